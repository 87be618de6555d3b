-- Lists the pauses and limits that apply to a job, or to a queue as a whole, with the number of jobs offered or running
-- under each, and who made the latest change of a pause among the last 1000 changes.
select c.tenant, c.queue, c.kind, c.key, c.paused and (c.until is null or c.until > clock_timestamp()) as paused, c.max_running as "limit",
       c.until, c.reason, c.changed, minutehand.busy(row(c.tenant, c.queue, c.kind, c.key, 0)::minutehand.bound) as busy
  from minutehand.controls c
 where (c.tenant, c.queue, c.kind, c.key) in (
           select t, q, k, y
             from unnest(array['', %(tenant)s::text]) t, unnest(array['', %(queue)s::text]) q,
                  unnest(array['', %(kind)s::text]) k, unnest(array['', %(key)s::text]) y)
   and (c.max_running is not null or c.paused and (c.until is null or c.until > clock_timestamp()))
 order by c.tenant, c.queue, c.kind, c.key
