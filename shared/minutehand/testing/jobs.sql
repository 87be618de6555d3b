-- Jobs with all columns and their current state, in the order in which they were enqueued.
select j.*, minutehand.state(j, clock_timestamp()) as state
  from minutehand.jobs j
 where (%(id)s::uuid is null or j.id = %(id)s)
 order by j.enqueued, j.id
