-- Enqueues one job that no other job matters to, with fewer parameters and calls than `enqueue`.
select id, 'created' as outcome,
       minutehand.enqueue_plain(
       id, kind => %(kind)s, payload => %(payload)s::json, queue => %(queue)s, "group" => %(group)s, run_at => %(run_at)s,
       delay => %(delay)s, priority => %(priority)s, max_attempts => %(max_attempts)s, retry => %(retry)s::jsonb,
       timeout => %(timeout)s, headers => %(headers)s::jsonb, personal => %(personal)s, tenant => %(tenant)s,
       expires => %(expires)s, on_dead => %(on_dead)s::json, batch => %(batch)s) as visible
  from (select coalesce(%(id)s, minutehand.uuid7()) as id) new
