-- Sets a pause, a limit or both for a scope (an empty name matches any). Null leaves a value as it is.
insert into minutehand.controls as c (tenant, queue, kind, key, paused, max_running, until, reason)
values (%(tenant)s, %(queue)s, %(kind)s, %(key)s, coalesce(%(paused)s, false), %(limit)s, %(until)s::minutehand.finite_time, %(reason)s)
    on conflict (tenant, queue, kind, key) do update
   set paused = coalesce(%(paused)s, c.paused), max_running = coalesce(excluded.max_running, c.max_running),
       until = case when %(paused)s then excluded.until else c.until end, reason = coalesce(excluded.reason, c.reason),
       changed = clock_timestamp()
returning tenant, queue, kind, key, paused, max_running as "limit", until, reason, changed
