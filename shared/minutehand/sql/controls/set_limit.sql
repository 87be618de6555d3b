-- Replaces the limit of a scope (an empty name matches any). A pause stays as it is.
insert into minutehand.controls as c
       (tenant, queue, kind, key, "group", per, max_running, rate, period, burst, in_order, on_dead, break_after,
        break_for, reason)
values (%(tenant)s, %(queue)s, %(kind)s, %(key)s, %(group)s, %(per)s, %(limit)s, %(rate)s, %(period)s, %(burst)s, %(in_order)s,
        %(on_dead)s, %(break_after)s, %(break_for)s, %(reason)s)
    on conflict (tenant, queue, kind, key, "group", per) do update
   set max_running = excluded.max_running, rate = excluded.rate, period = excluded.period, burst = excluded.burst,
       in_order = excluded.in_order, on_dead = excluded.on_dead,
       break_after = excluded.break_after, break_for = excluded.break_for, reason = coalesce(excluded.reason, c.reason),
       changed = clock_timestamp()
returning tenant, queue, kind, key, "group", per, paused, max_running as "limit", rate, period, burst, in_order, on_dead, break_after, break_for, until,
          reason, changed
