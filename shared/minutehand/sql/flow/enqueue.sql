-- Enqueues one job.
select id, outcome, visible
  from minutehand.enqueue(
       kind => %(kind)s, payload => %(payload)s::json, queue => %(queue)s, key => %(key)s, "group" => %(group)s, run_at => %(run_at)s,
       delay => %(delay)s, priority => %(priority)s, max_attempts => %(max_attempts)s, retry => %(retry)s::jsonb,
       timeout => %(timeout)s, headers => %(headers)s::jsonb, on_conflict => %(on_conflict)s, every => %(every)s,
       zone => %(zone)s, personal => %(personal)s, tenant => %(tenant)s, unique_while => %(unique_while)s,
       unique_for => %(unique_for)s, debounce => %(debounce)s, debounce_max => %(debounce_max)s,
       throttle => %(throttle)s, expires => %(expires)s, on_dead => %(on_dead)s::json, batch => %(batch)s,
       after => %(after)s::uuid[], after_failure => %(after_failure)s,
       as_id => %(id)s)
