-- How much is due in each queue, counted no further than there could be room for, and for how long at the longest.
-- What is paused is not due.
with paused as materialized (
    select exists (select from minutehand.controls where paused) as yes
)
select l.queue, least(count(*), %(most)s) as due, coalesce(%(now)s, now()) - min(j.visible) as late
  from minutehand.lanes l
 cross join lateral (
       select visible
         from minutehand.jobs_live
        where queue = l.queue and priority = l.priority
          and visible >= l.floor and visible <= coalesce(%(now)s, now())
        order by visible
        limit (select %(most)s::bigint)) j  -- hidden from the planner, which would rather sort what looks like few rows
 where not (select yes from paused)
 group by l.queue
 union all
select queue, due, late
  from minutehand.count_unpaused(%(most)s, coalesce(%(now)s, now()))
 where (select yes from paused)
 order by queue
