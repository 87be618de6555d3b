-- Sets a pause, a limit or both for a scope (an empty name matches any). Null leaves a value as it is.
insert into minutehand.controls as c (tenant, queue, kind, key, paused, most, until, why)
values (%(tenant)s, %(queue)s, %(kind)s, %(key)s, coalesce(%(paused)s, false), %(limit)s, %(until)s::minutehand.moment, %(reason)s)
    on conflict (tenant, queue, kind, key) do update
   set paused = coalesce(%(paused)s, c.paused), most = coalesce(excluded.most, c.most),
       until = case when %(paused)s then excluded.until else c.until end, why = coalesce(excluded.why, c.why),
       changed = clock_timestamp()
returning tenant, queue, kind, key, paused, most as "limit", until, why as reason, changed
