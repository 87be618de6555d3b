-- Ticks: scopes without room, which of them block the head of a stream, and alarms that could not be created.

-- The scopes without room in a queue, by name: kinds, tenants, and others, which name more than one, or a key; null for none.
-- Objects, because their keys are found by binary search: a tick looks up every row that it reads.
create type minutehand.full_scope as (queue text, kinds jsonb, tenants jsonb, others jsonb);

-- The scopes that blocked the jobs at the head of a tenant's part. As long as they have no room, no tick reads these jobs again.
-- `seen` is the time from which on others may have become due that are not.
alter table minutehand.positions
    add blocked_by text[] not null default '{}',
    add seen       timestamptz;

-- Whether jobs without a tenant were ever enqueued here: if tenants share the lane, these jobs have no index of their own.
alter table minutehand.lanes add mixed boolean not null default true;
alter table minutehand.lane_changes add mixed boolean not null default true;
alter type minutehand.due_lane add attribute mixed boolean;

-- Why a tick in mode sleep could not create the alarm of the next one, and when; null after one that could.
alter table minutehand.dispatcher
    add alarm_failed timestamptz,
    add alarm_error  minutehand.reason;
