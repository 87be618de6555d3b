-- Returns when the first of these jobs becomes visible; null if all of them have ended. If one has a group, that is now: a retry
-- unblocks the group of a dead job, whose other jobs may be due.
select case when bool_or("group" is not null) then clock_timestamp() else min(visible) end as visible
  from minutehand.jobs
 where deleted is null and id = any (%(ids)s::uuid[])
