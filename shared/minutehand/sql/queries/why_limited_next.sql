-- Estimates when a limit has room: of the jobs that are offered or running under it, `must_end` have to end first, more than one if
-- the limit was lowered. Returns the last of these. Each is expected to end after the median time for which jobs of its kind held
-- their place in the last hour, from those of the last 10,000 enqueued that are done; `expected` is null if the kind has none, or if
-- the job has been running for longer. Then it is expected to end with its lease or offer, at `ends`. Reads up to 10,000 jobs that
-- are offered or running. A name that is null stands for any.
with busy as materialized (
    select j.id, j.kind, j.visible, case when j.claimed is not null and not coalesce(j.offered > j.claimed, false) then j.claimed end as claimed
      from minutehand.jobs_live j
     where coalesce(j.offered, j.claimed) is not null and j.visible > now()
       and (%(tenant)s::text is null or j.tenant = %(tenant)s) and (%(queue)s::text is null or j.queue = %(queue)s)
       and (%(kind)s::text is null or j.kind = %(kind)s) and (%(key)s::text is null or j.key = %(key)s)
       and (%(group)s::text is null or j.group = %(group)s)
     order by j.visible
     limit 10000
), room as materialized (
    select greatest(0, count(*) - %(limit)s::integer) as above from busy
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
select b.id, b.kind, b.claimed, b.visible as ends, u.jobs, u.median, e.expected, (select above + 1 from room) as must_end
  from busy b
  left join usual u on u.kind = b.kind
 cross join lateral (
       select case when d.at > clock_timestamp() then d.at end as expected
         from (select coalesce(b.claimed, clock_timestamp()) + u.median as at) d) e
 order by coalesce(e.expected, b.visible)
offset (select above from room)
 limit 1
