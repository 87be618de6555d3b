-- Returns the offered and running jobs of each queue, up to a limit, the jobs enqueued and finished in the last minute, among
-- the latest ones up to the limit, and the budgets of queues whose offers lapsed lately.
with busy as (
    select b.queue, count(*) filter (where b.claimed is null) as offered, count(*) filter (where b.claimed is not null) as running
      from (select j.queue, j.claimed
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= (select busy_since from minutehand.dispatcher)
               and j.visible > now()
             order by coalesce(j.claimed, j.offered)
             limit %(limit)s) b
     group by b.queue
), latest as (
    select j.queue, j.enqueued from minutehand.jobs j order by j.id desc limit %(limit)s
), arrived as (
    select l.queue, count(*) as enqueued from latest l where l.enqueued > now() - interval '1 minute' group by l.queue
), ended as (
    select d.queue, count(*) as finished
      from (select j.queue from minutehand.jobs j
             where j.deleted is not null and j.deleted > now() - interval '1 minute'
             limit %(limit)s) d
     group by d.queue
)
select queue, coalesce(b.offered, 0) as offered, coalesce(b.running, 0) as running, coalesce(a.enqueued, 0) as enqueued,
       coalesce(e.finished, 0) as finished, g.budget
  from busy b
  full join arrived a using (queue)
  full join ended e using (queue)
  full join (select queue, budget from minutehand.budgets
              where lapsed > now() - interval '15 minutes' order by lapsed desc limit 100) g using (queue)
 order by queue
 limit 1000
