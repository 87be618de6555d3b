-- The columns that the pg-boss guide reads. Three jobs with one singleton key wait; others are to be retried, run or failed.
create schema pgboss;
create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
create table pgboss.job (
    id uuid not null default gen_random_uuid(), name text not null, priority integer not null default 0, data jsonb,
    state pgboss.job_state not null default 'created', retry_limit integer not null default 2,
    retry_count integer not null default 0, expire_seconds int not null default 900, singleton_key text,
    start_after timestamptz not null default now(), primary key (name, id)
) partition by list (name);
create table pgboss.mail partition of pgboss.job for values in ('mail');
insert into pgboss.job (name, priority, data, state, retry_count, singleton_key, start_after) values
    ('mail', 0, '{"to": "third"}', 'created', 0, 'welcome/bob', '2030-01-01 10:00+00'),
    ('mail', 0, '{"to": "first"}', 'created', 0, 'welcome/bob', '2030-01-01 08:00+00'),
    ('mail', 0, '{"to": "second"}', 'created', 0, 'welcome/bob', '2030-01-01 09:00+00'),
    ('mail', 40, null, 'retry', 1, null, '2030-01-02 08:00+00'),
    ('mail', 0, '{}', 'active', 0, null, '2030-01-01 08:00+00'),
    ('mail', 0, '{}', 'failed', 2, null, '2030-01-01 08:00+00');
