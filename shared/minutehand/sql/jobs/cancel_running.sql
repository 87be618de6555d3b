-- Asks running jobs to end at their next check.
select id, tenant from minutehand.request_cancellation(%(ids)s, %(reason)s)
