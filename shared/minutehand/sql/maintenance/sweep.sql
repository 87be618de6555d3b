-- Derives the lanes from the jobs, and repairs those that would hide one. Reads the first entry of each lane in the index,
-- so that the cost does not depend on the number of jobs. Locked lanes are left to the next sweep, so that no tick waits.
-- Likewise repairs `busy_since`, which SQL or a clock that was set back may have made too late.
with recursive used (queue, priority, first) as (
    (select queue, priority, visible from minutehand.jobs_live order by queue, priority, visible limit 1)
    union all
    select n.queue, n.priority, n.visible
      from used u
     cross join lateral (
           select queue, priority, visible
             from minutehand.jobs_live
            where (queue, priority) > (u.queue, u.priority)
            order by queue, priority, visible
            limit 1) n
), tenants (queue, priority) as (
    (select queue, priority from minutehand.jobs_live where tenant <> '' order by queue, priority limit 1)
    union all
    select n.queue, n.priority
      from tenants t
     cross join lateral (
           select queue, priority
             from minutehand.jobs_live
            where tenant <> '' and (queue, priority) > (t.queue, t.priority)
            order by queue, priority
            limit 1) n
), grouped (queue, priority) as (
    (select queue, priority from minutehand.jobs_live where "group" is not null order by queue, priority limit 1)
    union all
    select n.queue, n.priority
      from grouped g
     cross join lateral (
           select queue, priority
             from minutehand.jobs_live
            where "group" is not null and (queue, priority) > (g.queue, g.priority)
            order by queue, priority
            limit 1) n
), busy as materialized (
    select distinct queue, priority
      from minutehand.jobs_live
     where coalesce(offered, claimed) is not null and visible > coalesce(%(now)s, now())
), found as (
    select u.queue, u.priority, case when b.queue is null then u.first else least(u.first, coalesce(%(now)s, now())) end as floor,
           t.queue is not null as shared, g.queue is not null as grouped
      from used u
      left join busy b on b.queue = u.queue and b.priority = u.priority
      left join tenants t on t.queue = u.queue and t.priority = u.priority
      left join grouped g on g.queue = u.queue and g.priority = u.priority
), wrong as materialized (
    select f.queue, f.priority, f.floor, f.shared, f.grouped, l.queue is null as missing
      from found f
      left join minutehand.lanes l on l.queue = f.queue and l.priority = f.priority
     where l.queue is null or f.floor < l.floor or f.shared and not l.shared or f.grouped and not l.grouped
), new as (
    insert into minutehand.lanes (queue, priority, floor, shared, grouped)
    select queue, priority, floor, shared, grouped from wrong
     where missing
     order by queue, priority
        on conflict (queue, priority) do nothing
), since as (
    update minutehand.dispatcher d
       set busy_since = first.start - interval '6 seconds'
      from (select min(coalesce(claimed, offered)) as start from minutehand.jobs_live where coalesce(offered, claimed) is not null) first
     where first.start < d.busy_since
), lower as materialized (
    select w.queue, w.priority, w.floor, w.shared, w.grouped
      from wrong w
      join minutehand.lanes l on l.queue = w.queue and l.priority = w.priority
     where not w.missing and (w.floor < l.floor or w.shared and not l.shared or w.grouped and not l.grouped)
       for update of l skip locked
)
update minutehand.lanes l
   set floor = least(l.floor, lower.floor), shared = l.shared or lower.shared, grouped = l.grouped or lower.grouped, idle = null, emptied = null
  from lower
 where l.queue = lower.queue and l.priority = lower.priority
