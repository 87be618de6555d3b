-- The columns that the pg-boss guide reads: a pending job, one to be retried, a running one and a failed one.
create schema pgboss;
create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed', 'blocked');
create table pgboss.job (
    id uuid not null default gen_random_uuid(), name text not null, priority integer not null default 0, data jsonb,
    state pgboss.job_state not null default 'created', retry_limit integer not null default 2,
    retry_count integer not null default 0, expire_seconds int not null default 900, singleton_key text,
    start_after timestamptz not null default now()
);
insert into pgboss.job (name, priority, data, state, retry_count, singleton_key, start_after) values
    ('mail', 0, '{"to": "ada"}', 'created', 0, 'welcome/ada', '2030-01-01 08:00+00'),
    ('mail', 40, null, 'retry', 1, null, '2030-01-02 08:00+00'),
    ('mail', 0, '{}', 'active', 0, null, '2030-01-01 08:00+00'),
    ('mail', 0, '{}', 'failed', 2, null, '2030-01-01 08:00+00');
