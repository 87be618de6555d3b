-- Returns the queues whose budget is below the capacity, the smallest first, with the jobs of each that are offered or running.
with budgets as (
    select b.queue, minutehand.budget_at(b.budget, b.lapsed, clock_timestamp()) as budget, b.lapsed
      from minutehand.budgets b
     order by b.lapsed desc
     limit %(queues)s
), busy as (
    select b.queue, count(*) as jobs
      from (select j.queue
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= (select busy_since from minutehand.dispatcher)
               and j.visible > now()
             limit %(limit)s) b
     group by b.queue
)
select queue, b.budget, b.lapsed, coalesce(u.jobs, 0) as used
  from budgets b
  left join busy u using (queue)
 where b.budget < %(capacity)s
 order by b.budget, queue
