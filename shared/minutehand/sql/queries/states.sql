-- The states of some jobs, and what else may keep a person from changing them.
select j.id, minutehand.state(j) as state, j.cancelling, j.personal and j.payload::text = 'null' as cleared
  from minutehand.jobs j
 where j.id = any (%(ids)s)
