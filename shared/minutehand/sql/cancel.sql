-- Ends jobs that do not run. An offer that is under way finds nothing to claim.
update minutehand.jobs j
   set deleted = clock_timestamp(), failed = true, cancelled = true,
       error = jsonb_build_object('type', 'Cancelled', 'message', %(reason)s::text)
 where j.deleted is null and j.id = any (%(ids)s) and minutehand.state(j, clock_timestamp()) <> 'running'
returning j.id
