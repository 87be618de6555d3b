-- Looks for due jobs, for a dispatcher that waits: whether it is still the one that waits, whether any job is due, how many
-- are offered or running, whether a rate that has none left or a breaker allows another start until the end of the wait, and when the next
-- job becomes due until then. Claimed jobs are not expected: their leases end later than the jobs.
with lane as materialized (
    select queue, priority, floor from minutehand.due_lanes(now() + %(lasts)s::interval)
)
select coalesce((select waiter = %(waiter)s from minutehand.waiting), false) as waits,
       exists (select
                 from lane l
                cross join lateral (
                      select
                        from minutehand.jobs_live
                       where queue = l.queue and priority = l.priority and visible >= l.floor and visible <= now()
                         and attempts < max_attempts and cancelling is null
                         and (expires is null or minutehand.expires_at(run_at, expires) > now() or attempts > 0)
                       limit 1) j) as due,
       (select count(*)
          from (select
                  from minutehand.jobs_live
                 where coalesce(offered, claimed) is not null and coalesce(claimed, offered) >= (select busy_since from minutehand.dispatcher)
                   and visible > now()
                 limit %(capacity)s) busy) as busy,
       (exists (select
                 from minutehand.rates r
                 join minutehand.controls c on c.id = r.control
                where r.due > now()
                  and r.due - (c.burst - 1) * (c.period / c.rate) between now() and now() + %(lasts)s::interval)
       or exists (select from minutehand.breakers where held_until > now() and held_until <= now() + %(lasts)s::interval)) as rated,
       (select extract(epoch from min(j.visible) - clock_timestamp())
          from lane l
         cross join lateral (
               select visible
                 from minutehand.jobs_live
                where queue = l.queue and priority = l.priority and visible >= l.floor
                  and visible > now() and visible <= now() + %(lasts)s::interval
                  and attempts < max_attempts and cancelling is null and (claimed is null or offered > claimed)
                order by visible
                limit 1) j)::float8 as next_seconds
