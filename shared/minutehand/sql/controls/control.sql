-- Pauses, limits, or both, what the names say ('' is any); what is null stays as it is.
insert into minutehand.controls as c (tenant, queue, kind, key, paused, most, until, why)
values (%(tenant)s, %(queue)s, %(kind)s, %(key)s, coalesce(%(paused)s, false), %(most)s, %(until)s::minutehand.moment, %(why)s)
    on conflict (tenant, queue, kind, key) do update
   set paused = coalesce(%(paused)s, c.paused), most = coalesce(excluded.most, c.most),
       until = case when %(paused)s then excluded.until else c.until end, why = coalesce(excluded.why, c.why),
       changed = clock_timestamp()
returning tenant, queue, kind, key, paused, most, until, why, changed
