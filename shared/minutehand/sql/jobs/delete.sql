-- Deletes upcoming jobs.
select id, queue, kind, key, attempts, max_attempts, tenant from minutehand.delete_jobs(%(ids)s)
