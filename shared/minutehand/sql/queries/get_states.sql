-- Returns the states of jobs, and what else may prevent a change.
select j.id, minutehand.state(j) as state, j.cancelling, j.personal and j.payload::text = 'null' as cleared
  from minutehand.jobs j
 where j.id = any (%(ids)s)
