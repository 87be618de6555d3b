-- Raises the floors of lanes, so that scans start there. Transactions that have not ended may still add jobs, which this
-- statement does not see; see minutehand.lane_covers for the reason why their jobs are found.
--
-- A lane with due, offered or running jobs gets a floor 6 seconds below its first due job and below `settled`. Any other
-- lane is marked as idle first: from then on an enqueuer who sees the mark records a change, which ends it. When all
-- transactions that began to write before the mark was committed have ended, all jobs of those who did not see it are
-- visible here. Then the floor is the time of the first job, or infinity, and no tick reads the lane before that.
--
-- A lane that another session has locked or changed stays as it is.
with settled as materialized (
    -- An id of the future is that of another server, from which the database was restored.
    select settled, case when settled_xid <= pg_snapshot_xmin(pg_current_snapshot()) then settled_xid else '0' end as settled_xid
      from minutehand.dispatcher
), busy as materialized (
    select distinct queue, priority
      from minutehand.jobs_live
     where coalesce(offered, claimed) is not null and coalesce(claimed, offered) >= (select busy_since from minutehand.dispatcher)
       and visible > coalesce(%(now)s, now())
), head as materialized (
    select l.queue, l.priority, l.xmin as was, l.floor, l.idle, j.visible as first,
           (j.visible is null or j.visible > coalesce(%(now)s, now()))
               and not exists (select from busy b where b.queue = l.queue and b.priority = l.priority) as waits
      from minutehand.lanes l
      left join lateral (
           select visible
             from minutehand.jobs_live
            where queue = l.queue and priority = l.priority and visible >= l.floor
            order by visible
            limit 1) j on true
     where l.floor <= coalesce(%(now)s, now())
), next as materialized (
    select queue, priority, was, head.floor as was_floor, idle as was_idle,
           case when waits and idle < settled_xid then coalesce(first, 'infinity')
                else greatest(floor, least(first, settled) - interval '6 seconds') end as floor,
           case when waits and idle < settled_xid or not waits then null
                -- Of a database that was restored on another server.
                when idle is null or idle > pg_snapshot_xmax(pg_current_snapshot()) then pg_current_xact_id()
                else idle end as idle,
           case when waits and idle < settled_xid and first is null then coalesce(%(now)s, now()) end as emptied
      from head, settled
), free as materialized (
    select l.queue, l.priority, n.was, n.floor, n.idle, n.emptied
      from minutehand.lanes l
      join next n on n.queue = l.queue and n.priority = l.priority and n.was = l.xmin
     where n.floor > n.was_floor or n.idle is distinct from n.was_idle
     order by n.was_floor
     limit 10000
       for update of l skip locked
)
update minutehand.lanes l
   set floor = free.floor, idle = free.idle, emptied = free.emptied
  from free
 where l.queue = free.queue and l.priority = free.priority and l.xmin = free.was
