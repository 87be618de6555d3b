-- Jobs with all that is known of them, the first enqueued first, in the state of this very moment.
select j.*, minutehand.state(j, clock_timestamp()) as state
  from minutehand.jobs j
 where (%(id)s::uuid is null or j.id = %(id)s)
 order by j.enqueued, j.id
