-- Lists pauses and limits, a page at a time, with the number of jobs offered or running under each.
select c.tenant, c.queue, c.kind, c.key, c.group, c.per,
       c.paused and (c.until is null or c.until > clock_timestamp()) as paused, c.max_running as "limit", c.rate, c.period, c.burst,
       c.in_order, c.on_dead, c.until, c.reason, c.changed,
       minutehand.busy(row(0, c.tenant, c.queue, c.kind, c.key, c.group, c.per, false, '', 0)::minutehand.bound) as busy
  from minutehand.controls c
 where (c.limited or c.paused and (c.until is null or c.until > clock_timestamp()))
   and (%(after)s::text[] is null or array[c.tenant, c.queue, c.kind, c.key, c.group, c.per]::text[] > %(after)s)
 order by c.tenant, c.queue, c.kind, c.key, c.group, c.per
 limit %(limit)s
