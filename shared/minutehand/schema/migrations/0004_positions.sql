-- The selection of due jobs: behind many that cannot start, and in turns.
--
--   positions         where the sweep of a stream goes on
--   turns             the virtual time of each queue that tenants share
--   turn_ends         when the last job of a tenant ends in that time
--   shares            weights of tenants

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

-- Tenants of a queue share its offers by start-time fair queueing (Goyal, Vin and Cheng, 1996). Time is virtual: a job of a
-- tenant with weight 3 takes a third of a unit. The next job is that of the tenant whose last one ended first.
create table minutehand.turns (
    queue minutehand.queue  primary key,
    -- The start of the last job that was chosen. A tenant without a job in the meantime starts here.
    now   double precision  not null default 0,
    -- The last tenant that a tick listed, if it may not list all of them; the next tick goes on there.
    last  minutehand.tenant not null default ''
);
create table minutehand.turn_ends (
    queue minutehand.queue  not null,
    -- A tenant; '' for the jobs without one.
    turn  minutehand.tenant not null,
    ends  double precision  not null,
    primary key (queue, turn)
) with (fillfactor = 50);
-- The weights of tenants, in a queue or with '' in those without a row of their own. A tenant without a row has weight 1.
create table minutehand.shares (
    turn   minutehand.tenant not null,
    weight integer           not null constraint weight_is_1_to_1000 check (weight between 1 and 1000),
    queue  text              not null default ''
           constraint queue_is_a_name check (queue = '' or queue::minutehand.queue is not null),
    primary key (turn, queue)
);
