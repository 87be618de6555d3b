-- The selection of due jobs behind many that cannot start.
--
--   positions         where the sweep of a stream goes on

-- Where to look for due jobs, in the order of an index: a whole lane, or a part of a lane that tenants share: the jobs of a
-- tenant, or for part '' those without one. `head` is the number of rows that every round may read, `most` the number of
-- candidates that it needs. `last` marks the tenant at which a tick that may not visit more of them stopped.
create type minutehand.stream as (
    queue text, priority integer, floor timestamptz, whole boolean, part text, head integer, most bigint, last boolean
);

-- A due job that may start as far as its own row and the bounds without room tell. `stream` is that of the sweep that found
-- it; null if it was found at the head or the end of a stream.
create type minutehand.candidate as (
    id uuid, queue text, priority integer, visible timestamptz, tenant text, kind text, key text, stream integer
);

-- The streams whose head has no job that may start. A table and not columns of `lanes`, whose rows change only if the lane does.
create table minutehand.positions (
    queue    minutehand.queue    not null,
    priority minutehand.priority not null,
    whole    boolean             not null,
    part     minutehand.tenant   not null,
    -- The sweep goes on with this row; null for the beginning.
    visible  timestamptz,
    id       uuid,
    -- The last sweep, and whether it found a job that may start.
    swept    timestamptz         not null,
    hit      boolean             not null default false,
    -- Whether the head was blocked when a tick last saw it.
    blocked  boolean             not null default true,
    primary key (queue, priority, whole, part)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index positions_swept on minutehand.positions (swept);
