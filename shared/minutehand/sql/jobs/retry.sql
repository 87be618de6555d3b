-- Retries dead, expired and cancelled jobs, each after its delay and with all its attempts.
select id, queue, kind, key, attempts, max_attempts, tenant from minutehand.retry_jobs(%(ids)s, %(delays)s)
