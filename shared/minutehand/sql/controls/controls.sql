-- What is paused or limited, and how many jobs of it are offered or running.
select c.tenant, c.queue, c.kind, c.key, c.paused and (c.until is null or c.until > clock_timestamp()) as paused, c.most,
       c.until, c.why, c.changed, minutehand.busy(row(c.tenant, c.queue, c.kind, c.key, 0)::minutehand.bound) as busy
  from minutehand.controls c
 where c.most is not null or c.paused and (c.until is null or c.until > clock_timestamp())
 order by c.tenant, c.queue, c.kind, c.key
