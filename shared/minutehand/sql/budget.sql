-- How many jobs may be offered or running: the capacity, less what was offered in vain. What lapsed since the last
-- tick was too much; if that is all there was, nobody answers, and the budget is halved. Ten minutes after the last
-- lapse it grows again, by 1, 2, 4 and so on a minute.
with clock as (
    select ticked as now from minutehand.dispatcher
), vain as (
    select count(*)::integer as jobs
      from (select
              from minutehand.jobs_live, minutehand.dispatcher d, clock
             where coalesce(offered, claimed) is not null and visible > d.since and visible <= clock.now
               and offered is not null and (claimed is null or offered > claimed)
             limit %(capacity)s) lapsed
), had as (
    select least(%(capacity)s, d.budget + case when age < 10 then 0 else 2 ^ least(age - 9, 20) - 1 end)::integer as budget
      from (select budget, floor(extract(epoch from clock.now - lapsed) / 60) as age
              from minutehand.dispatcher, clock) d
), left_over as (
    select case when vain.jobs = 0 then had.budget
                else greatest(1, case when vain.jobs < had.budget then had.budget - vain.jobs else had.budget / 2 end)
           end as budget, vain.jobs
      from vain, had
), noted as (
    update minutehand.dispatcher set budget = left_over.budget, lapsed = clock.now
      from left_over, clock
     where left_over.jobs > 0
)
select budget, jobs as vain from left_over
