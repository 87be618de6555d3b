-- Derives the lanes from the jobs, and repairs those that would hide one. Reads the first entry of each lane in the index,
-- so that the cost does not depend on the number of jobs. Locked lanes are left to the next sweep, so that no tick waits.
with recursive used (queue, priority) as (
    (select queue, priority from minutehand.jobs_live order by queue, priority limit 1)
    union all
    select n.queue, n.priority
      from used u
     cross join lateral (
           select queue, priority
             from minutehand.jobs_live
            where (queue, priority) > (u.queue, u.priority)
            order by queue, priority
            limit 1) n
), busy as materialized (
    select distinct queue, priority
      from minutehand.jobs_live
     where coalesce(offered, claimed) is not null and visible > coalesce(%(now)s, now())
), found as materialized (
    select u.queue, u.priority, case when b.queue is null then j.visible else least(j.visible, coalesce(%(now)s, now())) end as floor,
           exists (select from minutehand.jobs_live t
                    where t.queue = u.queue and t.priority = u.priority and t.tenant <> '') as shared
      from used u
     cross join lateral (
           select visible
             from minutehand.jobs_live
            where queue = u.queue and priority = u.priority
            order by visible
            limit 1) j
      left join busy b on b.queue = u.queue and b.priority = u.priority
), new as (
    insert into minutehand.lanes (queue, priority, floor, shared)
    select queue, priority, floor, shared from found f
     where not exists (select from minutehand.lanes l where l.queue = f.queue and l.priority = f.priority)
     order by queue, priority
        on conflict (queue, priority) do nothing
), lower as materialized (
    select l.queue, l.priority, f.floor, f.shared
      from minutehand.lanes l
      join found f on f.queue = l.queue and f.priority = l.priority and (f.floor < l.floor or f.shared and not l.shared)
       for update of l skip locked
)
update minutehand.lanes l
   set floor = least(l.floor, lower.floor), shared = l.shared or lower.shared, idle = null, emptied = null
  from lower
 where l.queue = lower.queue and l.priority = lower.priority
