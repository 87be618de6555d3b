-- Raises each lane's floor to a minute before its oldest due row, or before now, so that scans start there. A floor that
-- another transaction is lowering, or has lowered since this statement began, stays as it is. The next sweep finds a row
-- that an open transaction inserts below the floor.
with free as materialized (
    select queue, priority, floor from minutehand.lanes for update skip locked
), higher as (
    select l.queue, l.priority, l.floor as was, least(coalesce(%(now)s, now()), j.visible) - interval '1 minute' as floor
      from minutehand.lanes l
      left join lateral (
           select visible
             from minutehand.jobs_live
            where queue = l.queue and priority = l.priority
              and visible >= l.floor and visible <= coalesce(%(now)s, now())
            order by visible
            limit 1) j on true
)
update minutehand.lanes l
   set floor = higher.floor
  from free, higher
 where l.queue = free.queue and l.priority = free.priority and free.queue = higher.queue and free.priority = higher.priority
   and free.floor = higher.was and higher.floor > higher.was
