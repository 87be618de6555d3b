-- The states of some jobs.
select j.id, minutehand.state(j) as state from minutehand.jobs j where j.id = any (%(ids)s)
