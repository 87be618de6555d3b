-- Breakers: groups whose jobs failed, or that an answer asked to wait.

create table minutehand.breakers (
    queue   minutehand.queue     not null,
    tenant  minutehand.tenant    not null,
    "group" minutehand.job_group not null,
    -- Consecutive failed attempts.
    failures integer not null default 0,
    -- Since when the breaker has been open, through all probes that failed.
    opened timestamptz,
    -- No job starts until then. Afterwards the breaker is half open, and one job at a time starts.
    open_until timestamptz,
    -- No job starts until then, because a handler raised RetryAfter.
    slow_until timestamptz,
    held_until timestamptz generated always as (greatest(open_until, slow_until)) stored,
    -- When it was last examined; see prune_groups.
    examined timestamptz not null default clock_timestamp(),
    primary key (queue, tenant, "group")
) with (fillfactor = 70);
create index breakers_held on minutehand.breakers (held_until) where held_until is not null;
create index breakers_open on minutehand.breakers (open_until) where open_until is not null;
create index breakers_examined on minutehand.breakers (examined);
-- The limits that declare breakers, by group.
create index controls_breakers on minutehand.controls ("group") where break_after is not null;

alter table minutehand.breakers enable row level security;
