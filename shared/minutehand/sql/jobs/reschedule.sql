-- Moves upcoming jobs to a time, or by a delay from now. A time in the past means now.
select id, queue, kind, key, attempts, max_attempts, tenant from minutehand.reschedule_jobs(%(ids)s, %(run_at)s, %(delay)s)
