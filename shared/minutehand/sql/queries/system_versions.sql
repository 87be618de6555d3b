-- Returns the workers that ended the latest jobs, with the versions of their code: of the latest jobs up to a limit, and of those
-- that ended in the last minute.
with ended as (
    (select j.id, j.deleted from minutehand.jobs j where j.deleted is not null order by j.id desc limit %(limit)s)
     union
    (select j.id, j.deleted from minutehand.jobs j
      where j.deleted is not null and j.deleted > now() - interval '1 minute'
      limit %(limit)s)
)
select a.worker, a.version, count(*) as jobs, min(a.ended) as first, max(a.ended) as last
  from ended e
  -- With `limit`, the planner cannot read a whole day for a few attempts.
 cross join lateral (select t.worker, t.version, t.ended from minutehand.attempts t where t.job = e.id and t.ended = e.deleted limit 1) a
 group by a.worker, a.version
 order by max(a.ended) desc
 limit %(rows)s
