-- Takes off each queue's budget what lapsed since the last tick, and says how many of its jobs may be offered or
-- running, for each queue that may have fewer than the capacity. A job is counted once: one that nobody can ever claim
-- does not starve the others. Two in a hundred are bad luck; where hardly anything was claimed, nobody answers or the
-- dispatcher died before its fan-out, and the budget is halved; a twentieth of the capacity is always left. Ten
-- minutes after the last lapse it grows again, by 1, 2, 4 and so on a minute.
with clock as (
    select since, ticked as now from minutehand.dispatcher limit 1  -- for the planner, which would expect thousands
), vain as (
    select queue, count(*)::integer as jobs
      from (select j.queue
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null
               and j.visible > (select since from clock) and j.visible <= (select now from clock)
               and j.offered is not null and j.claimed is null and j.prior is null
             order by j.visible
             limit %(capacity)s) lapsed
     group by queue
), aged as (
    select queue, budget, floor(extract(epoch from clock.now - lapsed) / 60) as age from minutehand.budgets, clock
), had as (
    select queue, coalesce(vain.jobs, 0) as vain,
           least(%(capacity)s, case when age between 0 and 9 then budget
                                    when age > 9 then budget + 2 ^ least(age - 9, 20) - 1 end)::integer as budget
      from aged full join vain using (queue)
), has as (
    select queue, vain, vain * 50 > budget as lowered,
           case when vain * 50 <= budget then budget
                else greatest(1, %(capacity)s / 20, case when vain * 10 < budget * 9 then budget - vain else budget / 2 end)
           end as budget
      from had
), noted as (
    insert into minutehand.budgets (queue, budget, lapsed)
    select queue, budget, clock.now from has, clock where lowered
        on conflict (queue) do update set budget = excluded.budget, lapsed = excluded.lapsed
)
select queue, budget, vain from has where budget < %(capacity)s or vain > 0 order by queue
