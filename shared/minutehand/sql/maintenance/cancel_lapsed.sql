-- Ends jobs that are to be cancelled, and their successors.
select id, queue, kind, key, attempts, max_attempts, tenant from minutehand.cancel_lapsed(%(limit)s, %(now)s)
