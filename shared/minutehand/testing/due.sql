-- The queues with due jobs, the one with the oldest due job first.
select queue
  from minutehand.jobs_live
 where visible <= clock_timestamp() and attempts < max_attempts and (%(queue)s::text is null or queue = %(queue)s)
 group by queue
 order by min(visible)
