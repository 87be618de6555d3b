-- Counts the jobs of each queue by state, up to a limit: unfinished ones, and those that died since a time. `more` if there may be
-- more. Up to 10,000 due and as many later jobs are read in 1,000 lanes, the first 10,000 of all that are offered or running, and
-- the last 10,000 that died.
with lane as materialized (
    select l.queue, l.priority, min(l.floor) as floor
      from (select queue::text, priority::integer, floor from minutehand.lanes where floor < 'infinity'
             union all
            select queue, priority, visible from minutehand.lane_changes where queue is not null) l
     where %(queue)s::text is null or l.queue = %(queue)s
     group by l.queue, l.priority
     order by l.queue, l.priority
     limit 1000
), part as materialized (
    select least(%(limit)s::bigint, 10000 / greatest(count(*), 1)) as jobs from lane
), busy as materialized (
    select j.queue, case when j.claimed is null or j.offered > j.claimed then 'offered' else 'running' end as state, j.visible
      from minutehand.jobs_live j
     where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= (select busy_since from minutehand.dispatcher)
       and j.visible > now() and j.ack is not null
     order by coalesce(j.claimed, j.offered)
     limit 10000
), dead as materialized (
    select j.queue, j.deleted
      from minutehand.jobs j
     where j.deleted is not null and j.deleted >= %(since)s
       and j.failed and not j.cancelled and (j.attempts > 0 or j.expires is null)
     order by j.deleted desc
     limit 10000
), counted as (
    select l.queue, 'due' as state, d.jobs, d.since, d.jobs >= (select jobs from part) as more
      from lane l
     cross join lateral (
           select count(*) as jobs, min(v.visible) as since
             from (select visible
                     from minutehand.jobs_live
                    where queue = l.queue and priority = l.priority and visible >= l.floor and visible <= now()
                    order by visible
                    -- A subquery hides the limit from the planner, which would sort what looks like few rows.
                    limit (select jobs from part)) v) d
     union all
    select l.queue, s.state, s.jobs, s.since, w.jobs >= (select jobs from part)
      from lane l
     cross join lateral (
           select count(*) as jobs, count(*) filter (where v.ack is null and v.attempts = 0) as scheduled,
                  count(*) filter (where v.ack is null and v.attempts > 0) as retrying,
                  min(v.visible) filter (where v.ack is null and v.attempts = 0) as first_scheduled,
                  min(v.visible) filter (where v.ack is null and v.attempts > 0) as first_retrying
             from (select visible, ack, attempts
                     from minutehand.jobs_live
                    where queue = l.queue and priority = l.priority and visible >= l.floor and visible > now()
                    order by visible
                    limit (select jobs from part)) v) w
     cross join lateral (values ('scheduled', w.scheduled, w.first_scheduled), ('retrying', w.retrying, w.first_retrying)) s (state, jobs, since)
     union all
    select b.queue, b.state, count(*), min(b.visible), (select count(*) from busy) >= 10000
      from busy b
     where %(queue)s::text is null or b.queue = %(queue)s
     group by 1, 2
     union all
    select d.queue, 'dead', count(*), min(d.deleted), (select count(*) from dead) >= 10000
      from dead d
     where %(queue)s::text is null or d.queue = %(queue)s
     group by 1
)
select c.queue, c.state, least(sum(c.jobs), %(limit)s)::bigint as jobs, min(c.since) as since, bool_or(c.more) or sum(c.jobs) > %(limit)s as more
  from counted c
 group by 1, 2
having sum(c.jobs) > 0 or bool_or(c.more)
 order by 1, 2
