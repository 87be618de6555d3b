-- Pauses a scope (an empty name matches any), until a time or until it is resumed. Its limit stays as it is.
insert into minutehand.controls as c (tenant, queue, kind, key, "group", per, paused, until, reason)
values (%(tenant)s, %(queue)s, %(kind)s, %(key)s, %(group)s, %(per)s, true, %(until)s::minutehand.finite_time, %(reason)s)
    on conflict (tenant, queue, kind, key, "group", per) do update
   set paused = true, until = excluded.until, reason = coalesce(excluded.reason, c.reason), changed = clock_timestamp()
returning tenant, queue, kind, key, "group", per, paused, max_running as "limit", rate, period, burst, in_order, on_dead, break_after, break_for, until,
          reason, changed
