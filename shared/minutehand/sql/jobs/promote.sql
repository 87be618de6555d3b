-- Makes upcoming jobs due now.
update minutehand.jobs j
   set lapsed = coalesce(claimed, lapsed),
       ack = null, prior = null, offered = null, claimed = null, visible = clock_timestamp(),
       run_at = least(run_at, clock_timestamp())
 where j.deleted is null and j.id = any (%(ids)s) and attempts < max_attempts and cancelling is null
   and minutehand.state(j, clock_timestamp()) <> 'running'
returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant
