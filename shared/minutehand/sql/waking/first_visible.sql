-- Returns when the first of these jobs becomes visible; null if all of them have ended. That is now if they were retried and one has
-- a group: this unblocks the group of a dead job, whose other jobs may be due.
select case when %(retried)s and bool_or("group" is not null) then clock_timestamp() else min(visible) end as visible
  from minutehand.jobs
 where deleted is null and id = any (%(ids)s::uuid[])
