-- The kinds of the next due jobs of a queue.
select kind
  from minutehand.jobs_live
 where queue = %(queue)s and visible <= clock_timestamp() and attempts < max_attempts
 order by priority desc, visible
 limit %(limit)s
