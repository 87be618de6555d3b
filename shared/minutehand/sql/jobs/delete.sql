-- Deletes upcoming jobs.
delete from minutehand.jobs j
 where j.deleted is null and j.id = any (%(ids)s) and minutehand.state(j, clock_timestamp()) <> 'running'
returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant
