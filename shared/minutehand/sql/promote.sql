-- Makes jobs due at once, unless they run.
update minutehand.jobs j
   set ack = null, prior = null, offered = null, claimed = null, visible = clock_timestamp(),
       run_at = least(run_at, clock_timestamp())
 where j.deleted is null and j.id = any (%(ids)s) and attempts < max_attempts
   and minutehand.state(j, clock_timestamp()) <> 'running'
returning j.id
