-- The columns that the pgqueue guide reads: a pending item, one to be retried, a running one and a failed one.
create schema pgqueue;
create table pgqueue.queue (
    tenant_id varchar(40) not null, id uuid not null default gen_random_uuid(), created timestamp not null, key varchar(255),
    type varchar(40) not null, queue varchar(255) not null, state varchar(40) not null, run_after timestamp,
    payload bytea, target jsonb, primary key (id), unique (tenant_id, queue, key)
);
insert into pgqueue.queue (tenant_id, created, key, type, queue, state, run_after, payload, target) values
    ('acme', '2030-01-01 07:00', '4720', 'invoice', 'billing', 'PENDING', '2030-01-01 08:00', '{"n": 4720}', '{"to": "ada"}'),
    ('other', '2030-01-01 07:00', '4720', 'invoice', 'billing', 'RETRY', null, '[1]', null),
    ('acme', '2030-01-01 07:00', '4721', 'invoice', 'billing', 'RUNNING', null, '{}', null),
    ('acme', '2030-01-01 07:00', '4722', 'invoice', 'billing', 'FAILED', null, '{}', null);
