-- Breakers: groups whose jobs failed, or that an answer asked to wait.

create table minutehand.breakers (
    queue   minutehand.queue     not null,
    tenant  minutehand.tenant    not null,
    "group" minutehand.job_group not null,
    -- Consecutive failed attempts.
    failures integer not null default 0,
    -- No job starts until then. Afterwards the breaker is half open, and one job at a time starts.
    open_until timestamptz,
    -- No job starts until then, because a handler raised RetryAfter.
    slow_until timestamptz,
    changed timestamptz not null default clock_timestamp(),
    primary key (queue, tenant, "group")
) with (fillfactor = 70);
-- Those that hold jobs back.
create index breakers_held on minutehand.breakers (queue) where coalesce(open_until, slow_until) is not null;
create index breakers_changed on minutehand.breakers (changed);

alter table minutehand.breakers enable row level security;
