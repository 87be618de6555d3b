-- Counts the due jobs of each queue, up to a limit, and how long the oldest has been due. Paused jobs are not due.
with paused as materialized (
    select exists (select from minutehand.controls where paused) as yes
)
select l.queue, least(count(*), %(limit)s) as due, coalesce(%(now)s, now()) - min(j.visible) as late
  from minutehand.due_lanes(coalesce(%(now)s, now())) l
 cross join lateral (
       select visible
         from minutehand.jobs_live
        where queue = l.queue and priority = l.priority
          and visible >= l.floor and visible <= coalesce(%(now)s, now())
        order by visible
        -- A subquery hides the limit from the planner, which would sort what looks like few rows.
        limit (select %(limit)s::bigint)) j
 where not (select yes from paused)
 group by l.queue
 union all
select queue, due, late
  from minutehand.count_unpaused(%(limit)s, coalesce(%(now)s, now()))
 where (select yes from paused)
 order by queue
