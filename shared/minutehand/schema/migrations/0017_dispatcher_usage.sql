-- Dispatcher usage: what the invocations of the dispatcher used in each month, for the report of costs.
--
-- Each invocation adds to one row at its end. Workers write nothing: their usage is in the history of attempts.

create table minutehand.dispatcher_usage (
    -- The first day of a month in UTC, by which AWS bills.
    month       date    not null,
    mode        text    not null constraint dispatcher_usage_mode check (mode in ('minute', 'prompt', 'sleep')),
    memory_mb   integer not null,
    invocations bigint  not null,
    -- Those that EventBridge Scheduler started, and those in a new environment.
    scheduled   bigint  not null,
    cold        bigint  not null,
    -- How long the handler ran, each time rounded up, and the part in which it waited for jobs.
    ran_ms      bigint  not null,
    waited_ms   bigint  not null,
    -- The end of the first invocation.
    since       timestamptz not null default clock_timestamp(),
    -- The settings of the latest invocation.
    capacity    integer not null,
    chunk       integer not null,
    primary key (month, mode, memory_mb)
) with (fillfactor = 50);

-- Policies are in roles.sql.
alter table minutehand.dispatcher_usage enable row level security;
