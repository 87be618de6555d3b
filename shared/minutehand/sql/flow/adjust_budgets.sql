-- Reduces each queue's budget by the offers that lapsed since the last tick, and returns the budgets below the capacity.
-- Each job counts once, so that one that can never be claimed does not starve the others. Two lapsed offers in a hundred
-- are tolerated. If nine in ten or more lapsed, the workers do not respond or the dispatcher died before its fan-out, and
-- the budget is halved. A twentieth of the capacity always remains. Ten minutes after the last lapse the budget grows
-- again, by 1, 2, 4 and so on a minute.
with clock as (
    -- The limit is for the planner, which would expect thousands of rows.
    select since, ticked as now, busy_since from minutehand.dispatcher limit 1
), missed as (
    select queue, count(*)::integer as jobs
      from (select j.queue
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= (select busy_since from clock)
               and j.visible > (select since from clock) and j.visible <= (select now from clock)
               and j.offered is not null and j.claimed is null and j.prior is null
             order by coalesce(j.claimed, j.offered)
             limit %(capacity)s) lapsed
     group by queue
), aged as (
    select queue, minutehand.budget_at(budget, lapsed, clock.now) as budget from minutehand.budgets, clock
), had as (
    select queue, coalesce(missed.jobs, 0) as missed,
           least(%(capacity)s, budget) as budget
      from aged full join missed using (queue)
), has as (
    select queue, missed, missed * 50 > budget as lowered,
           case when missed * 50 <= budget then budget
                else greatest(1, %(capacity)s / 20, case when missed * 10 < budget * 9 then budget - missed else
                                                         budget / 2 end)
           end as budget
      from had
), noted as (
    insert into minutehand.budgets (queue, budget, lapsed)
    select queue, budget, clock.now from has, clock where lowered
        on conflict (queue) do update set budget = excluded.budget, lapsed = excluded.lapsed
)
select queue, budget, missed as lapsed from has where budget < %(capacity)s or missed > 0 order by queue
