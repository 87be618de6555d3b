-- Returns the time, the earliest time at which anything needs a tick, and when offered and running jobs need
-- one: at the first end of a lease, or soon, if some are not claimed yet.
-- A tick is needed when a job becomes due or is due, a job expires, a schedule fires, a pause ends, or a batch or a predecessor is to be
-- checked; the time may be in the past. Paused jobs and those of groups that a dead job blocks need none, except that a tick must end
-- those whose worker died and that have no attempt left or were cancelled. Those of a group that a breaker holds back need none before
-- its end, or while a probe runs, before its lease ends: the worker requests a tick when it has ended the probe.
-- A floor is a lower bound of its lane's jobs: of the lanes and changes with a floor in the future, the first 100 suffice. If all their
-- jobs are later than the last of these floors, that floor is returned, which may be too early. Of the others, which ticks read too, it
-- reads all, unless the first 100 have a due job.
-- Reads one entry of each of these lanes, after those of offered and running jobs. If anything is paused, blocked or held back, it reads
-- up to 1000.
-- If none of these may start, it goes on to the first one that may, for another 200,000, and then assumes that the next one may. With
-- more than 1000 groups that are held back or half open, it assumes so at once: it looks up the groups of the jobs that it reads, and
-- never reads all groups. Of more than 1000 blocked groups, it assumes that the jobs of the others may start.
with clock as materialized (
    select clock_timestamp() as now
), paused as materialized (
    select c.tenant::text, c.queue::text, c.kind::text, c.key::text, c.group::text
      from minutehand.controls c, clock
     -- The first condition is that of an index.
     where (c.paused or c.max_running = 0)
       and (c.max_running = 0 and c.per = '' or c.paused and (c.until is null or c.until > clock.now))
), shape as materialized (
    -- What pauses name, so that a job is looked up in one hash table for each of these combinations.
    select distinct queue <> '' as queue, tenant <> '' as tenant, kind <> '' as kind, key <> '' as key, "group" <> '' as "group" from paused
), blocked as materialized (
    select queue, tenant, "group" from minutehand.some_blocked_groups()
), breaking as materialized (
    -- Whether any group is half open, is half open or held back, and whether too many are.
    select coalesce(b.first <= clock.now, false) as half_open, coalesce(b.first <= clock.now, false) or coalesce(b.last > clock.now, false) as found,
           exists (select from minutehand.breakers where open_until <= clock.now order by open_until offset 1000)
           or exists (select from minutehand.breakers where held_until > clock.now order by held_until offset 1000) as many
      from clock
     cross join (select (select min(open_until) from minutehand.breakers), (select max(held_until) from minutehand.breakers)) b (first, last)
), probe as materialized (
    -- The leases of jobs of groups. While a group is half open, its next job waits for the last of them.
    select queue::text, tenant::text, "group"::text, max(visible) as until
      from minutehand.jobs_live
     where coalesce(offered, claimed) is not null and coalesce(claimed, offered) >= (select busy_since from minutehand.dispatcher)
       and visible > (select now from clock) and "group" is not null
       and (select half_open from breaking)
     group by queue, tenant, "group"
), held as materialized (
    -- Read only to go on behind the first 1000 jobs of a lane. Blocked groups have no end.
    select b.queue, b.tenant, b.group, coalesce(s.until, p.until) as until
      from clock
     cross join lateral (
           (select queue::text, tenant::text, "group"::text from minutehand.breakers where held_until > clock.now order by held_until limit 1000)
            union
           (select queue::text, tenant::text, "group"::text from minutehand.breakers where open_until <= clock.now order by open_until limit 1000)) b
     cross join lateral (select * from minutehand.breaker_state(b.queue, b.tenant, b.group, clock.now) limit 1) s
      left join probe p on s.half_open and p.queue = b.queue and p.tenant = b.tenant and p.group = b.group
     where coalesce(s.until, p.until) is not null
     union all
    select queue, tenant, "group", null from blocked
), stopped as materialized (
    select p.queue from paused p where p.tenant = '' and p.kind = '' and p.key = '' and p.group = ''
), later as materialized (
    (select 'lanes' as source, queue::text, priority::integer, floor
       from minutehand.lanes
      where floor > (select now from clock) and floor < 'infinity' and queue::text not in (select queue from stopped)
      order by floor
      limit 100)
     union all
    (select 'changes', queue, priority, visible
       from minutehand.lane_changes
      where visible > (select now from clock) and visible < 'infinity' and queue is not null and queue not in (select queue from stopped)
      order by visible
      limit 100)
), due as materialized (
    -- Whether the first lanes have a due job, and none is paused, blocked or held back.
    select exists (
        select
          from (select queue::text, priority::integer, floor from minutehand.lanes where floor <= (select now from clock) order by floor limit 100) l
         cross join lateral (
               select
                 from minutehand.jobs_live
                where queue = l.queue and priority = l.priority and visible >= l.floor and visible <= (select now from clock)
                limit 1) j
         where not exists (select from paused) and not exists (select from blocked) and not (select found from breaking)) as found
), lane as materialized (
    select l.queue, l.priority, min(l.floor) as floor
      from (select queue::text, priority::integer, floor from minutehand.lanes where floor <= (select now from clock) and not (select found from due)
             union all
            select queue, priority, visible from minutehand.lane_changes where visible <= (select now from clock) and queue is not null
             union all
            select queue, priority, floor from later) l
     where not exists (select from stopped where queue = '') and l.queue not in (select queue from stopped)
     group by l.queue, l.priority
), job as (
    select case when count(*) = 1000 and coalesce(min(j.needed) > (select now from clock), true)
                then least(min(j.needed), case when (select many from breaking) then max(j.visible) else (select min(until) from held) end, (
                     select min(n.visible)
                       from (select r.visible
                               from (select visible, kind, key, tenant, "group", row_number() over (order by visible) as place
                                       from minutehand.jobs_live
                                      where queue = l.queue and priority = l.priority and visible >= max(j.visible)
                                        and (coalesce(offered, claimed) is null or visible <= (select now from clock))
                                      order by visible
                                      limit (select case when many then 0 else 200000 end from breaking)) r
                              where r.place = 200000
                                 or not exists (select
                                                  from shape s
                                                 where (case when s.queue then l.queue else '' end, case when s.tenant then r.tenant::text else '' end,
                                                        case when s.kind then r.kind::text else '' end,
                                                        case when s.key then coalesce(r.key::text, '') else '' end,
                                                        case when s.group then coalesce(r.group::text, '') else '' end)
                                                       in (select p.queue, p.tenant, p.kind, p.key, p.group from paused p))
                                -- One hash table for all jobs.
                                and (r.group is null
                                     or (l.queue, r.tenant::text, r.group::text) not in (
                                        select h.queue, h.tenant, h.group from held h))
                              limit 1) n))
                else min(j.needed) end as needed
      from lane l
     cross join lateral (
           select v.visible,
                  case when not exists (select
                                          from shape s
                                         where (case when s.queue then l.queue else '' end, case when s.tenant then v.tenant::text else '' end,
                                                case when s.kind then v.kind::text else '' end, case when s.key then coalesce(v.key::text, '') else '' end,
                                                case when s.group then coalesce(v.group::text, '') else '' end)
                                               in (select p.queue, p.tenant, p.kind, p.key, p.group from paused p))
                        and (v.group is null
                             or (l.queue, v.tenant::text, v.group::text) not in (select b.queue, b.tenant, b.group from blocked b))
                       then greatest(v.visible, s.until, p.until) end as needed
             from (select visible, kind, key, tenant, "group"
                     from minutehand.jobs_live
                    where queue = l.queue and priority = l.priority and visible >= l.floor
                      and (coalesce(offered, claimed) is null or visible <= (select now from clock))
                    order by visible
                    -- A subquery hides the limit from the planner, which would sort what looks like few rows.
                    limit (select case when exists (select from paused p where p.queue in ('', l.queue))
                                         or exists (select from blocked b where b.queue = l.queue)
                                         or (select found from breaking)
                                       then 1000 else 1 end)) v
            cross join clock
             left join lateral (
                  -- The limit makes it a look-up by key for each job.
                  select * from minutehand.breaker_state(l.queue, v.tenant, v.group, clock.now)
                   where v.group is not null and (select found from breaking) limit 1) s on true
             left join probe p on s.half_open and p.queue = l.queue and p.tenant = v.tenant and p.group = v.group) j
     group by l.queue, l.priority
)
select clock.now,
       least((select min(needed) from job), (select clock.now from due where found),
             (select min(s.last)
                from (select max(floor) as last from later group by source having count(*) = 100) s
               where not exists (select from stopped where queue = '')),
             (select min(minutehand.expires_at(run_at, expires)) from minutehand.jobs_live where expires is not null and attempts = 0),
             -- Jobs that a tick must end: their lease is over, and they have no attempt left or were cancelled.
             (select clock.now
               where least((select min(visible) from minutehand.jobs_live where attempts >= max_attempts),
                           (select min(visible) from minutehand.jobs_live where cancelling is not null)) <= clock.now),
             (select min(wake) from minutehand.schedules where not paused and wake is not null),
             (select min(until) from minutehand.controls where (paused or max_running = 0) and paused and until > clock.now),
             (select clock.now where exists (select from minutehand.batch_checks) or exists (select from minutehand.predecessor_checks))) as needed,
       -- The lease of a job that is still to be claimed may end before its offer does.
       (select min(case when claimed is null or offered > claimed then least(visible, clock.now) else visible end)
          from minutehand.jobs_live
         where coalesce(offered, claimed) is not null and coalesce(claimed, offered) >= (select busy_since from minutehand.dispatcher)
           and visible > clock.now) as busy_until
  from clock
