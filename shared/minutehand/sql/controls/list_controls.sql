-- Lists pauses and limits, a page at a time, each with its state.
select c.tenant, c.queue, c.kind, c.key, c.group, c.per,
       c.paused and (c.until is null or c.until > clock_timestamp()) as paused, c.max_running as "limit", c.rate, c.period, c.burst,
       c.in_order, c.on_dead, c.break_after, c.break_for, c.until, c.reason, c.changed, s.busy, s.full, s.free_at, s.open
  from minutehand.controls c
  join minutehand.control_states(clock_timestamp()) s on s.id = c.id
 where (c.limited or c.paused and (c.until is null or c.until > clock_timestamp()))
   and (%(after)s::text[] is null or array[c.tenant, c.queue, c.kind, c.key, c.group, c.per]::text[] > %(after)s)
 order by c.tenant, c.queue, c.kind, c.key, c.group, c.per
 limit %(limit)s
