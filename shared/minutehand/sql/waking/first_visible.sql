-- Returns when the first of these jobs becomes visible; null if all of them have ended.
select min(visible) as visible from minutehand.jobs where deleted is null and id = any (%(ids)s::uuid[])
