-- Asks running jobs to end at their next check.
update minutehand.jobs j
   set cancelling = %(reason)s::text
 where j.deleted is null and j.id = any (%(ids)s) and minutehand.state(j, clock_timestamp()) = 'running'
returning j.id, j.tenant
