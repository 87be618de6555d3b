-- DocMQ's columns: a pending job, one that failed twice, a recurring one, one that runs, one whose worker died, and a
-- finished one.
create schema docmq;
create table docmq.jobs (
    id uuid not null default gen_random_uuid() primary key, r uuid not null, visible timestamptz not null,
    deleted timestamptz, ack uuid, dead boolean default false, error text, payload text,
    attempts_tries integer not null default 0, attempts_max integer not null default 1, repeat_every text,
    gen_deleted timestamptz generated always as (coalesce(deleted, to_timestamp(0))) stored,
    gen_ack uuid generated always as (coalesce(ack, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
    unique (r, gen_ack, gen_deleted)
);
insert into docmq.jobs (r, visible, deleted, ack, payload, attempts_tries, attempts_max, repeat_every) values
    ('00000000-0000-4000-8000-000000000001', '2030-01-01 08:00+00', null, null, '{"_": {"to": "ada"}}', 0, 5, null),
    ('00000000-0000-4000-8000-000000000002', '2030-01-02 08:00+00', null, null, '{"_": "scalar"}', 2, 5, null),
    ('00000000-0000-4000-8000-000000000003', '2030-01-03 08:00+00', null, null, '{"_": null}', 0, 0,
     '{"type": "cron", "value": "0 8 * * *"}'),
    ('00000000-0000-4000-8000-000000000004', '2030-01-01 08:00+00', null, gen_random_uuid(), '{"_": "runs"}', 0, 5, null),
    ('00000000-0000-4000-8000-000000000005', '2020-01-01 08:00+00', null, gen_random_uuid(), '{"_": "older"}', 0, 5, null),
    ('00000000-0000-4000-8000-000000000001', '2020-01-01 08:00+00', '2020-01-01 08:01+00', gen_random_uuid(), '{"_": 1}', 0, 5, null);
