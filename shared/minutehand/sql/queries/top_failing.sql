-- Counts the jobs that died in the last hour, and those of the latest unfinished ones that wait for another attempt, by queue
-- and kind, with the type of the latest error; up to a limit of each.
with failed as (
    (select j.queue, j.kind, true as dead, j.deleted as at, j.error ->> 'type' as error
       from minutehand.jobs j
      where j.deleted is not null and j.deleted >= now() - interval '1 hour'
        and j.failed and not j.cancelled and (j.attempts > 0 or j.expires is null)
      order by j.deleted desc
      limit %(limit)s)
     union all
    select r.queue, r.kind, false, r.visible, r.error ->> 'type'
      from (select j.queue, j.kind, j.visible, j.error, j.attempts, j.claimed
              from minutehand.jobs j
             where j.deleted is null
             order by j.id desc
             limit %(limit)s) r
     where r.error is not null and r.attempts > 0 and r.claimed is null
)
select queue, kind, count(*) filter (where dead) as dead, count(*) filter (where not dead) as retrying,
       (array_agg(error order by dead, at desc))[1] as error
  from failed
 where %(queue)s::text is null or queue = %(queue)s
 group by queue, kind
 order by count(*) desc, queue, kind
 limit 10
