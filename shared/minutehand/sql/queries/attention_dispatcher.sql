-- Returns when the dispatcher last ticked and in which mode, and the queues whose workers did not claim offers: those with a
-- reduced budget, because many offers lapsed in the last 15 minutes, and those with jobs whose latest offers lapsed, among a number
-- of jobs. Needs the privileges of minutehand_reader.
with reduced as (
    select queue, budget, lapsed from minutehand.budgets where lapsed > now() - interval '15 minutes' order by lapsed desc limit 20
), unclaimed as (
    select l.queue, count(*) as jobs
      from (select j.queue
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= (select busy_since from minutehand.dispatcher)
               and j.offered is not null and j.claimed is null and (j.prior is not null or j.visible <= now())
             order by coalesce(j.claimed, j.offered)
             limit %(offered)s) l
     group by l.queue
     order by jobs desc
     limit 20
)
select (select nullif(ticked, '-infinity') from minutehand.dispatcher) as ticked, (select mode from minutehand.dispatcher) as mode, queue, r.budget, r.lapsed,
       coalesce(u.jobs, 0) as jobs
  from (select) one
  left join (reduced r full join unclaimed u using (queue)) on true
