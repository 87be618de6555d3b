-- Returns the longest-overdue job of the first 1000 queues; jobs of paused queues come last.
-- Needs the privileges of minutehand_reader.
select j.id
  from (select queue from minutehand.queues_seen() queue order by queue limit 1000) q
 cross join generate_series(0, 9) p (priority)
 cross join lateral (
       select j.id, j.visible
         from minutehand.jobs_live j
        where j.queue = q.queue and j.priority = p.priority and j.visible <= clock_timestamp()
        order by j.visible
        limit 1) j
 order by exists (select from minutehand.controls c
                   where c.queue in ('', q.queue) and (c.tenant, c.kind, c.key, c.group, c.per) = ('', '', '', '', '')
                     and c.paused and (c.until is null or c.until > clock_timestamp())),
          j.visible
 limit 1
