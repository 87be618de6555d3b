-- Lanes: where to look for due jobs.

-- Returns the floors of the lanes that may have due jobs. A lane may have several; none of its due jobs is before the earliest.
-- In SQL, so that it becomes a part of the calling statement. Conditions on the queue reach the indexes only because both parts
-- have columns of the same types.
create or replace function minutehand.due_floors(moment timestamptz)
returns table (queue text, priority integer, floor timestamptz, shared boolean, grouped boolean, mixed boolean)
language sql stable rows 10
as $$
    select queue::text, priority::integer, floor, shared, grouped, mixed from minutehand.lanes where floor <= moment
     union all
    select queue::text, priority::integer, visible, shared, grouped, mixed from minutehand.lane_changes where visible <= moment
$$;

-- Returns the lanes that may have due jobs, with the floor from which to scan. In SQL for the same reason.
create or replace function minutehand.due_lanes(moment timestamptz)
returns table (queue text, priority integer, floor timestamptz, shared boolean, grouped boolean, mixed boolean)
language sql stable rows 10
as $$
    select l.queue, l.priority, min(l.floor), bool_or(l.shared), bool_or(l.grouped), bool_or(l.mixed)
      from minutehand.due_floors(moment) l
     group by l.queue, l.priority
$$;
