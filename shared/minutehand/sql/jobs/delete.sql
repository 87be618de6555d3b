-- Deletes upcoming jobs.
select id, queue, kind, key, attempts, max_attempts, tenant, batch, awaited from minutehand.delete_jobs(%(ids)s)
