-- Copies a chunk of a bulk enqueue to the staging table.
copy minutehand.new_jobs
     (load, ordinal, kind, payload, queue, key, "group", run_at, delay, priority, max_attempts, retry, timeout,
      headers, every, zone, personal, tenant, on_conflict, unique_while, unique_for, debounce, debounce_max, throttle, expires, on_dead, batch, after, after_failure, id)
from stdin
