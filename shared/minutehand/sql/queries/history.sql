-- Adds up the history in steps: whole steps, then the minutes after them, then the jobs that no tick has counted. For a tenant
-- `uncounted` is when its counted jobs begin: the policies hide the history from it.
with counted as materialized (
    select coalesce(%(uncounted)s::timestamptz, least(greatest(until, %(now)s::timestamptz - interval '1 hour'), %(now)s)) as until
      from minutehand.history_counted
     -- Tells the planner that it is one row, so that it does not compile the statement.
     where one
), whole as materialized (
    select until, date_bin(make_interval(secs => %(step)s::integer), until, '2000-01-01 00:00+00') as begun from counted
), found as materialized (
    select h.start, h.queue, h.enqueued, h.done, h.dead, h.expired, h.cancelled, h.wait_classes, h.wait_jobs, h.run_classes, h.run_jobs
      from whole w, minutehand.history h
     where (h.step = %(step)s and h.start >= %(since)s and h.start < w.begun
            or %(step)s > 60 and h.step = 60 and h.start >= w.begun and h.start >= %(since)s and h.start < w.until)
       and (%(queue)s::text is null or h.queue = %(queue)s)
     union all
    select c.*
      from whole w, minutehand.count_history(greatest(w.until, %(since)s), %(now)s, %(step)s) c
     where %(queue)s::text is null or c.queue = %(queue)s
), binned as materialized (
    select date_bin(make_interval(secs => %(step)s::integer), f.start, '2000-01-01 00:00+00') as bin, f.* from found f
), classes as (
    select c.bin, json_object_agg(c.class, c.jobs) filter (where c.what = 'wait') as wait,
           json_object_agg(c.class, c.jobs) filter (where c.what = 'run') as run
      from (select b.bin, 'wait' as what, u.class, sum(u.jobs)::bigint as jobs
              from binned b, unnest(b.wait_classes, b.wait_jobs) u (class, jobs) group by 1, 3
             union all
            select b.bin, 'run', u.class, sum(u.jobs)::bigint
              from binned b, unnest(b.run_classes, b.run_jobs) u (class, jobs) group by 1, 3) c
     group by c.bin
)
select b.bin as start, sum(b.enqueued)::bigint as enqueued, sum(b.done)::bigint as done, sum(b.dead)::bigint as dead,
       sum(b.expired)::bigint as expired, sum(b.cancelled)::bigint as cancelled, min(c.wait::text)::json as wait, min(c.run::text)::json as run
  from binned b
  left join classes c using (bin)
 group by b.bin
 order by b.bin
