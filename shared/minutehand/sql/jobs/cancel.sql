-- Cancels jobs that do not run. An offer of one finds nothing to claim.
update minutehand.jobs j
   set deleted = clock_timestamp(), failed = true, cancelled = true,
       error = jsonb_build_object('type', 'Cancelled', 'message', %(reason)s::text)
 where j.deleted is null and j.id = any (%(ids)s) and minutehand.state(j, clock_timestamp()) <> 'running'
returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant,
          case when coalesce(j.claimed, j.lapsed) is not null  -- the worker stopped responding
               then minutehand.lapse(j, j.attempts, coalesce(j.claimed, j.lapsed)) end
