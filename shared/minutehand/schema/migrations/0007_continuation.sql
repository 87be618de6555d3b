-- What a worker needs to go on with the next due jobs of its queue, in the slots that its own jobs have freed.
--
--   take_locks   locked by ticks and workers, so that no slot is given away twice
--   kind_times   how long the jobs of each kind take, which limits the chunks of the dispatcher

-- A slot belongs to the worker whose job freed it, until a tick counts the busy jobs again. A worker locks one of these rows
-- while it takes jobs, and a tick locks all of them before it counts. Several rows, so that workers rarely wait for each
-- other. Row locks are granted in order: workers cannot keep a tick waiting, as they could with shared locks on one row.
create table minutehand.take_locks (
    number integer primary key constraint number_is_0_to_15 check (number between 0 and 15)
);
insert into minutehand.take_locks select generate_series(0, 15);

alter table minutehand.dispatcher
    -- When the latest tick had counted: jobs that ended later were still busy for it.
    add column counted  timestamptz not null default '-infinity',
    -- Its capacity, and whether all of it was in use afterwards, so that due jobs may have to wait.
    add column capacity integer,
    add column is_full  boolean not null default false;

create table minutehand.kind_times (
    kind       minutehand.kind  primary key,
    -- Of 100 jobs, 95 take no longer.
    seconds    double precision not null constraint seconds_are_positive check (seconds >= 0),
    -- The seconds of an invocation of the worker that serves the kind.
    invocation double precision not null constraint invocation_is_positive check (invocation > 0),
    measured   timestamptz      not null
);
