-- The columns that the DocMQ guide reads: a pending job, one that failed twice, a recurring one and a finished one.
create schema docmq;
create table docmq.jobs (
    r uuid not null, visible timestamptz not null, deleted timestamptz, ack uuid, payload text,
    attempts_tries integer not null default 0, attempts_max integer not null default 1, repeat_every text
);
insert into docmq.jobs values
    ('00000000-0000-4000-8000-000000000001', '2030-01-01 08:00+00', null, null, '{"_": {"to": "ada"}}', 0, 5, null),
    ('00000000-0000-4000-8000-000000000002', '2030-01-02 08:00+00', null, null, '{"_": "scalar"}', 2, 5, null),
    ('00000000-0000-4000-8000-000000000003', '2030-01-03 08:00+00', null, null, '{"_": null}', 0, 0,
     '{"type": "cron", "value": "0 8 * * *"}'),
    ('00000000-0000-4000-8000-000000000001', '2020-01-01 08:00+00', '2020-01-01 08:01+00', gen_random_uuid(), '{"_": 1}', 0, 5, null);
