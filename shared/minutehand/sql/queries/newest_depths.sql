-- Counts jobs of the session's tenant by queue and state, up to a limit: the newest 10,000 unfinished ones, and the last 10,000 that
-- died since a time. `more` if there may be more.
with live as materialized (
    select j.queue, minutehand.state(j) as state, j.visible as moment
      from minutehand.jobs j
     where j.deleted is null
     order by j.id desc
     limit 10000
), dead as materialized (
    select j.queue, 'dead' as state, j.deleted as moment
      from minutehand.jobs j
     where j.deleted is not null and j.deleted >= %(since)s
       and j.failed and not j.cancelled and (j.attempts > 0 or j.expires is null)
     order by j.deleted desc
     limit 10000
), counted as (
    select l.*, (select count(*) from live) >= 10000 as more from live l
     union all
    select d.*, (select count(*) from dead) >= 10000 from dead d
)
select c.queue, c.state, least(count(*), %(limit)s) as jobs, min(c.moment) as since, bool_or(c.more) or count(*) > %(limit)s as more
  from counted c
 where %(queue)s::text is null or c.queue = %(queue)s
 group by 1, 2
 order by 1, 2
