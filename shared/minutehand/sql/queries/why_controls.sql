-- Lists the pauses and limits that apply to a job, or to a queue as a whole. `busy` is the number of jobs offered or running under
-- each; of a limit per group, key or tenant, those of the job's own. `free_at` is when an exhausted rate allows the job to start.
select c.tenant, c.queue, c.kind, c.key, c.group, c.per, c.rate, c.period, c.burst, c.in_order, c.on_dead, c.break_after, c.break_for,
       c.paused and (c.until is null or c.until > clock_timestamp()) as paused, c.max_running as "limit",
       c.until, c.reason, c.changed,
       case when c.per = ''
            then minutehand.busy(row(0, c.tenant, c.queue, c.kind, c.key, c.group, '', false, '', 0)::minutehand.bound)
            else minutehand.busy_alike(row(0, c.tenant, c.queue, c.kind, c.key, c.group, c.per, false, '', 0)::minutehand.bound,
                                       %(tenant)s, %(queue)s, %(key)s, %(group)s) end as busy,
       case when c.rate is not null
            then minutehand.next_start(c.id, %(tenant)s, %(queue)s, %(key)s, %(group)s, clock_timestamp()) end as free_at
  from minutehand.controls c
 where (c.per <> 'group' or %(group)s <> '') and (c.per <> 'key' or %(key)s <> '') and (c.per <> 'tenant' or %(tenant)s <> '')
   and (c.tenant, c.queue, c.kind, c.key, c.group) in (
           select t, q, k, y, g
             from unnest(array['', %(tenant)s::text]) t, unnest(array['', %(queue)s::text]) q,
                  unnest(array['', %(kind)s::text]) k, unnest(array['', %(key)s::text]) y,
                  unnest(array['', %(group)s::text]) g)
   and (c.limited or c.paused and (c.until is null or c.until > clock_timestamp()))
 order by c.tenant, c.queue, c.kind, c.key, c.group
