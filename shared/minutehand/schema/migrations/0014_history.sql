-- History: the finished work of each minute, quarter of an hour and hour, so that a chart of a week reads no jobs.
--
--   history         the figures of a queue in a time
--   history_counted until when jobs have been counted
--
-- Each tick counts the minutes that are over. The flow writes nothing for it.

create table minutehand.history (
    -- Always '': the figures are those of all tenants, and the policies hide them from a session of one.
    tenant    minutehand.tenant not null default '',
    -- In seconds: 60, 900 or 3600.
    step      integer           not null,
    start     timestamptz       not null,
    queue     minutehand.queue  not null,
    enqueued  bigint            not null,
    done      bigint            not null,
    dead      bigint            not null,
    expired   bigint            not null,
    cancelled bigint            not null,
    -- How long jobs waited for their first attempt, and how long the last one ran: classes of durations, see
    -- minutehand.duration_class, and the number of jobs in each.
    wait_classes smallint[]     not null default '{}',
    wait_jobs    bigint[]       not null default '{}',
    run_classes  smallint[]     not null default '{}',
    run_jobs     bigint[]       not null default '{}',
    primary key (step, start, queue)
);
alter table minutehand.history enable row level security;

create table minutehand.history_counted (
    one   boolean     primary key default true constraint history_counted_is_one_row check (one),
    until timestamptz not null default date_trunc('minute', clock_timestamp())
);
insert into minutehand.history_counted default values;

-- Finished jobs are stored in the order of their end, so an index of a few bytes per 32 pages finds those of a time. It costs
-- the finish next to nothing, unlike an entry per job.
create index jobs_done_deleted on minutehand.jobs_done using brin (deleted) with (pages_per_range = 32, autosummarize = on);

-- A tenant's dead jobs: with `jobs_done_dead`, it would read those of all others.
create index jobs_done_dead_tenant on minutehand.jobs_done (tenant, deleted)
    where tenant <> '' and failed and not cancelled and (attempts > 0 or expires is null);
