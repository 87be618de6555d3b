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
    add column nominal    minutehand.moment,                         -- the moment this occurrence stands for
    add column schedule   text,                                      -- the schedule that fired it
    add column cancelling text,                                      -- why it is to end at its next check
    add column version    text,                                      -- the code that finished it
    add column lapsed     timestamptz;                               -- when the claim before was made that nobody settled

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
    error     jsonb,
    result    json                                                   -- what one that failed had so far
) partition by range (ended);
alter table minutehand.attempts add primary key (job, ended, attempt);
create table minutehand.attempts_default partition of minutehand.attempts default;

create table minutehand.schedules (
    tenant   minutehand.tenant not null default '',
    name     text              not null constraint schedule_is_named check (length(name) between 1 and 200),
    every    text              not null,                             -- cron of 5 or 6 fields, @daily ..., or ISO 8601
    zone     text              not null default 'UTC',
    starts   minutehand.moment,
    ends     minutehand.moment constraint schedule_ends_later check (ends > starts),
    jitter   interval          not null default '0'                  -- at most; the same for each firing of one name
             constraint jitter_is_up_to_a_day check (jitter between interval '0' and interval '24 hours'),
    ahead    interval          not null default '0'                  -- how long before its moment a job is enqueued
             constraint ahead_is_up_to_a_month check (ahead between interval '0' and interval '31 days'),
    catch_up text              not null default 'none' constraint catch_up_is_known check (catch_up in ('none', 'last', 'all')),
    most     integer           not null default 100                  -- with all: how many at most
             constraint most_is_1_to_1000 check (most between 1 and 1000),
    overlap  text              not null default 'allow' constraint overlap_is_known check (overlap in ('allow', 'skip', 'replace')),
    job      json              not null,                             -- what it enqueues: kind, payload and options
    paused   boolean           not null default false,
    source   text,                                                   -- the code that declares it
    hash     text,                                                   -- of what was declared
    next     minutehand.moment,                                      -- the next nominal moment; null when it is over
    wake     minutehand.moment,                                      -- when to look at it: next, less ahead
    fired    timestamptz,                                            -- the last moment that fired
    last     uuid,                                                   -- the job of it
    created  timestamptz       not null default clock_timestamp(),
    changed  timestamptz       not null default clock_timestamp(),
    primary key (tenant, name),
    constraint ahead_allows_overlap check (ahead = interval '0' or overlap = 'allow')
);
create index schedules_wake on minutehand.schedules (wake) where not paused and wake is not null;

create table minutehand.firings (
    tenant   minutehand.tenant not null default '',
    schedule text              not null,
    nominal  timestamptz       not null,
    fired    timestamptz       not null default clock_timestamp(),
    outcome  text              not null,                             -- fired, asked, skipped, missed or refused
    count    integer           not null default 1,                   -- how many moments it stands for: several missed
    job      uuid,
    primary key (tenant, schedule, nominal)
);
create index firings_nominal on minutehand.firings (nominal);

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
alter table minutehand.events add primary key (at, id);
create table minutehand.events_default partition of minutehand.events default;
