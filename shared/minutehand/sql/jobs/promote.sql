-- Makes upcoming jobs due now.
select id, queue, kind, key, attempts, max_attempts, tenant from minutehand.promote_jobs(%(ids)s)
