-- Facts of history, recurrence, control and tenants: the columns and tables; their functions come after.
--
--   jobs        whose it is (tenant), how it recurs (every, zone, nominal, schedule), what is private (personal)
--   attempts    every attempt at a job, in day partitions by its end
--   schedules   recurring definitions; firings is the ledger of what each has fired
--   controls    what is paused or limited: a queue, a kind or a key
--   uniques     keys that are taken for a period, or while a job of theirs runs
--   audit       who changed what by hand, and when
--   events      what happened to jobs, for those who keep it here, in day partitions

set local lock_timeout = '10s';  -- short of a lock it gives up, rather than have every tick wait behind it

create domain minutehand.tenant as text
    constraint tenant_is_a_name check (value ~ '^([A-Za-z0-9][A-Za-z0-9_.:@-]*)?$' and length(value) <= 100);

alter table minutehand.jobs
    add column tenant     minutehand.tenant not null default '',     -- whose it is; '' where there are no tenants
    add column personal   boolean           not null default false,  -- its payload is cleared when it is finished
    add column every      text,                                      -- cron, @daily or an ISO 8601 duration: it recurs
    add column zone       text,                                      -- the IANA time zone of `every`
    add column nominal    timestamptz,                               -- the moment this occurrence stands for
    add column schedule   text,                                      -- the schedule that fired it
    add column cancelling text,                                      -- why it is to end at its next check
    add column version    text;                                      -- the code that finished it

-- A key names one upcoming job of a tenant's queue.
drop index minutehand.jobs_live_upcoming;
create unique index jobs_live_upcoming on minutehand.jobs_live (queue, key, tenant) where key is not null and claimed is null;

create table minutehand.attempts (
    job       uuid              not null,
    attempt   integer           not null,
    started   timestamptz       not null,
    ended     timestamptz       not null default clock_timestamp(),
    memory_mb integer,                                               -- what Lambda bills for, times the milliseconds
    tenant    minutehand.tenant not null default '',
    queue     text              not null,
    kind      text              not null,
    outcome   text              not null,                            -- an ending of `finish`, or lapsed
    worker    text,                                                  -- the function or process that had the claim
    request   text,                                                  -- Lambda's request id
    version   text,                                                  -- the code that handled it
    error     jsonb
) partition by range (ended);
alter table minutehand.attempts add primary key (job, ended, attempt);
create table minutehand.attempts_default partition of minutehand.attempts default;

create table minutehand.schedules (
    tenant   minutehand.tenant not null default '',
    name     text              not null,
    every    text              not null,                             -- cron of 5 or 6 fields, @daily ..., or ISO 8601
    zone     text              not null default 'UTC',
    starts   timestamptz,
    ends     timestamptz,
    jitter   interval          not null default '0',                 -- at most; the same for each firing of one name
    catch_up text              not null default 'none',              -- none, last or all
    most     integer           not null default 100,                 -- with all: how many at most
    overlap  text              not null default 'allow',             -- allow, skip or replace
    job      jsonb             not null,                             -- what it enqueues: kind, payload and options
    paused   boolean           not null default false,
    source   text,                                                   -- the code that declares it
    hash     text,                                                   -- of what was declared
    next     timestamptz,                                            -- the next nominal moment; null when it is over
    fired    timestamptz,                                            -- the last one that fired
    created  timestamptz       not null default clock_timestamp(),
    changed  timestamptz       not null default clock_timestamp(),
    primary key (tenant, name)
);
create index schedules_next on minutehand.schedules (next) where not paused and next is not null;

create table minutehand.firings (
    tenant  minutehand.tenant not null default '',
    schedule text             not null,
    nominal timestamptz       not null,
    fired   timestamptz       not null default clock_timestamp(),
    outcome text              not null,                              -- fired, skipped (overlap), missed (catch-up)
    job     uuid,
    primary key (tenant, schedule, nominal)
);

create table minutehand.controls (
    tenant minutehand.tenant not null default '',
    queue  text              not null default '',                    -- '' means any
    kind   text              not null default '',
    key    text              not null default '',
    paused boolean           not null default false,
    most   integer           constraint most_is_at_least_0 check (most >= 0),  -- offered or running at once
    until  timestamptz,                                              -- when the pause ends by itself
    why    text,
    changed timestamptz      not null default clock_timestamp(),
    primary key (tenant, queue, kind, key)
);

create table minutehand.uniques (
    tenant minutehand.tenant not null default '',
    queue  text              not null,
    key    text              not null,
    until  timestamptz       not null,
    job    uuid              not null,
    primary key (queue, key, tenant)
);

create table minutehand.audit (
    id     uuid              primary key default minutehand.uuid7(),
    at     timestamptz       not null default clock_timestamp(),
    tenant minutehand.tenant not null default '',
    who    text              not null,                               -- what the caller said, else the database's user
    verb   text              not null,
    job    uuid,
    facts  jsonb                                                     -- what it was done to, and with; never a payload
);
create index audit_job on minutehand.audit (job) where job is not null;

create table minutehand.events (
    id     uuid              not null default minutehand.uuid7(),
    at     timestamptz       not null default clock_timestamp(),
    tenant minutehand.tenant not null default '',
    name   text              not null,
    job    uuid,
    queue  text,
    kind   text,
    facts  jsonb
) partition by range (at);
alter table minutehand.events add primary key (id, at);
create table minutehand.events_default partition of minutehand.events default;
