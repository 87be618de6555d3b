-- Returns when the dispatcher last ticked and in which mode, the budget of a queue whose offers lapsed, how many jobs are offered or
-- running, up to the capacity, and the one of them that has been running the longest. Needs the privileges of minutehand_operator
-- or minutehand_worker.
with dispatcher as (
    select nullif(ticked, '-infinity') as ticked, mode, capacity from minutehand.dispatcher
), busy as materialized (
    select j.id, j.kind, j.claimed
      from minutehand.jobs_live j
     where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= (select busy_since from minutehand.dispatcher)
       and j.visible > clock_timestamp()
     order by j.visible
     limit (select coalesce(capacity, 0) from dispatcher)
)
select d.ticked, d.mode, d.capacity, (select count(*) from busy) as busy, l.id as longest, l.kind as longest_kind,
       l.claimed as longest_since, b.budget, b.lapsed
  from (select) one
  left join dispatcher d on true
  left join minutehand.budgets b on b.queue = %(queue)s
  left join lateral (select id, kind, claimed from busy where claimed is not null order by claimed limit 1) l on true
