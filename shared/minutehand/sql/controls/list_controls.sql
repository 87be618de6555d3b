-- Lists pauses and limits, a page at a time, with the number of jobs offered or running under each.
select c.tenant, c.queue, c.kind, c.key, c.paused and (c.until is null or c.until > clock_timestamp()) as paused, c.max_running as "limit",
       c.until, c.reason, c.changed, minutehand.busy(row(c.tenant, c.queue, c.kind, c.key, 0)::minutehand.bound) as busy
  from minutehand.controls c
 where (c.max_running is not null or c.paused and (c.until is null or c.until > clock_timestamp()))
   and (%(after)s::text[] is null or array[c.tenant, c.queue, c.kind, c.key]::text[] > %(after)s)
 order by c.tenant, c.queue, c.kind, c.key
 limit %(limit)s
