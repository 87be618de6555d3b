-- Makes upcoming jobs due now. `expires` counts from now.
update minutehand.jobs j
   set lapsed = coalesce(claimed, lapsed),
       ack = null, prior = null, offered = null, claimed = null, visible = clock_timestamp(),
       run_at = case when expires is null then least(run_at, clock_timestamp()) else clock_timestamp() end
 where j.deleted is null and j.id = any (%(ids)s) and attempts < max_attempts and cancelling is null
   and minutehand.state(j, clock_timestamp()) <> 'running'
returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant,
          case when j.key is not null then minutehand.refuse_superseded(j.id) end
