-- Returns when the first of these jobs becomes visible; null if all of them have ended. If they were retried and one has a group,
-- returns now: the retry may have unblocked the group, whose other jobs may be due.
select case when %(retried)s and bool_or("group" is not null) then clock_timestamp() else min(visible) end as visible
  from minutehand.jobs
 where deleted is null and id = any (%(ids)s::uuid[])
