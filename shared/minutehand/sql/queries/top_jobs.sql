-- Lists the jobs of a queue that have been due the longest, in each priority, and those that are running, up to a limit of each.
select j.id, j.kind, j.key, 'due' as state, j.attempts, j.visible as since, j.error ->> 'type' as error
  from generate_series(0, 9) p (priority)
 cross join lateral (
       select d.* from minutehand.jobs_live d
        where d.queue = %(queue)s and d.priority = p.priority and d.visible <= now()
        order by d.visible
        limit %(limit)s) j
 union all
(select j.id, j.kind, j.key, case when j.claimed is null then 'offered' else 'running' end, j.attempts,
        coalesce(j.claimed, j.offered), j.error ->> 'type'
   from (select b.* from minutehand.jobs_live b
          where coalesce(b.offered, b.claimed) is not null and b.visible > now()
          order by b.visible
          limit 10000) j
  where j.queue = %(queue)s
  order by 6
  limit %(limit)s)
 order by state, since
