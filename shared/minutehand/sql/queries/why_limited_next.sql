-- Estimates when the first of the jobs that are offered or running under a limit ends: after the median time for which jobs of its
-- kind held their place in the last hour, from those of the last 10,000 enqueued that are done. `expected` is null if the kind has
-- none, or if the job has been running for longer. `ends` is when its lease or offer ends. A name that is null stands for any.
with busy as materialized (
    select j.id, j.kind, j.visible, case when j.claimed is not null and not coalesce(j.offered > j.claimed, false) then j.claimed end as claimed
      from minutehand.jobs_live j
     where coalesce(j.offered, j.claimed) is not null and j.visible > now()
       and (%(tenant)s::text is null or j.tenant = %(tenant)s) and (%(queue)s::text is null or j.queue = %(queue)s)
       and (%(kind)s::text is null or j.kind = %(kind)s) and (%(key)s::text is null or j.key = %(key)s)
       and (%(group)s::text is null or j.group = %(group)s)
), usual as materialized (
    select d.kind, count(*) as jobs, percentile_cont(0.5) within group (order by d.deleted - d.claimed) as median
      from (select j.kind, j.claimed, j.deleted, j.failed
              from minutehand.jobs j
             where j.deleted is not null and j.deleted >= date_trunc('day', now() - interval '1 hour', 'UTC')
             order by j.id desc
             limit 10000) d
     where d.deleted >= now() - interval '1 hour' and not d.failed and isfinite(d.claimed) and d.kind in (select kind from busy)
     group by d.kind
)
select b.id, b.kind, b.claimed, b.visible as ends, u.jobs, u.median, case when e.at > clock_timestamp() then e.at end as expected
  from busy b
  left join usual u on u.kind = b.kind
 cross join lateral (select coalesce(b.claimed, clock_timestamp()) + u.median as at) e
 order by expected nulls last, b.visible
 limit 1
