-- Enqueues one job.
select id, outcome, visible
  from minutehand.enqueue(
       %(kind)s, %(payload)s::json, %(queue)s, %(key)s, %(run_at)s, %(delay)s, %(priority)s, %(max_attempts)s,
       %(retry)s::jsonb, %(timeout)s, %(headers)s::jsonb, %(on_conflict)s, %(every)s, %(zone)s, %(personal)s, %(tenant)s,
       %(unique_while)s, %(unique_for)s, %(debounce)s, %(debounce_max)s, %(throttle)s, %(id)s)
