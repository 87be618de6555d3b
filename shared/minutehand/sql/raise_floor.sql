-- Raises each lane's floor to a minute before its oldest due row, or before now: what lies below needs no scan.
-- A row that an open transaction is about to put below is found by the next sweep.
update minutehand.lanes l
   set floor = f.floor
  from (select l.queue, l.priority, least(coalesce(%(now)s, now()), j.visible) - interval '1 minute' as floor
          from minutehand.lanes l
          left join lateral (
               select visible
                 from minutehand.jobs_live
                where queue = l.queue and priority = l.priority
                  and visible >= l.floor and visible <= coalesce(%(now)s, now())
                order by visible
                limit 1) j on true) f
 where f.queue = l.queue and f.priority = l.priority and f.floor > l.floor
