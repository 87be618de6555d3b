-- Edits upcoming jobs and returns their previous values.
select id, queue, kind, key, attempts, tenant, priority, max_attempts, retry, timeout, expires, visible
  from minutehand.edit_jobs(%(ids)s, %(fields)s, %(payload)s::json, %(headers)s::jsonb, %(priority)s::integer, %(max_attempts)s::integer,
                            %(retry)s::jsonb, %(timeout)s, %(expires)s, %(on_dead)s::json)
