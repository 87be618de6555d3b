-- Returns the unfinished job of a queue whose time comes first: the longest-overdue one, if any is due.
select j.id
  from generate_series(0, 9) p (priority)
 cross join lateral (
       select j.id, j.visible
         from minutehand.jobs_live j
        where j.queue = %(queue)s and j.priority = p.priority
        order by j.visible
        limit 1) j
 order by j.visible
 limit 1
