-- Gives due rows a fresh ack, up to the capacity, and hides them while the offer lasts. Queues take turns; within a
-- queue, higher priorities go first, then the jobs that have been due the longest. Locked rows are skipped. A queue gets
-- no more offers than its budget allows. If anything is paused or limited, or tenants share a queue, or jobs have groups, the
-- function `choose` selects the rows. An offer that no worker claimed is noted before the new one replaces it.
with busy as materialized (
    select queue, count(*) as jobs
      from (select queue, visible
              from minutehand.jobs_live
             where coalesce(offered, claimed) is not null and coalesce(claimed, offered) >= (select busy_since from minutehand.dispatcher)
               and visible > coalesce(%(now)s, now())
             order by coalesce(claimed, offered)
             limit %(capacity)s) busy
     group by queue
), room as materialized (
    select greatest(0, %(capacity)s - coalesce(sum(jobs), 0))::integer as room from busy
), allowed as materialized (
    select queue, greatest(0, budget - coalesce(busy.jobs, 0)) as jobs
      from unnest(%(queues)s::text[], %(budgets)s::integer[]) as given (queue, budget)
      left join busy using (queue)
), lane as materialized (
    select queue, priority, floor, shared, grouped from minutehand.due_lanes(coalesce(%(now)s, now()))
), controlled as materialized (
    select exists (select from minutehand.controls) or exists (select from lane where shared or grouped) as yes
), aging as materialized (
    -- A job that has waited for a step counts one priority higher.
    select priority_step as step from minutehand.settings
), due as materialized (
    select l.queue, l.priority, l.floor, j.visible,
           row_number() over (partition by l.queue order by j.visible - l.priority * (select step from aging)) as turn
      from lane l
     cross join lateral (
           select visible
             from minutehand.jobs_live
            where queue = l.queue and priority = l.priority
              and visible >= l.floor and visible <= coalesce(%(now)s, now()) and attempts < max_attempts
              and cancelling is null and (expires is null or minutehand.expires_at(run_at, expires) > coalesce(%(now)s, now()) or attempts > 0)
            order by visible
            limit (select room from room)) j
     where not (select yes from controlled)
), share as materialized (
    -- How many jobs each lane gets. Only these are locked: a lock is a write.
    select queue, priority, floor, count(*) as jobs
      from (select due.queue, priority, floor
              from due
              left join allowed using (queue)
             where turn <= coalesce(allowed.jobs, turn)
             order by turn, visible
             limit (select room from room)) chosen
     group by queue, priority, floor
), chosen as materialized (
    select j.id
      from share s
     cross join lateral (
           select id
             from minutehand.jobs_live
            where queue = s.queue and priority = s.priority
              and visible >= s.floor and visible <= coalesce(%(now)s, now()) and attempts < max_attempts
              and cancelling is null and (expires is null or minutehand.expires_at(run_at, expires) > coalesce(%(now)s, now()) or attempts > 0)
            order by visible
            limit s.jobs
              for update skip locked) j
), bounded as materialized (
    select id
      from minutehand.choose((select room from room), coalesce(%(now)s, now()), %(queues)s, %(budgets)s) id
     where (select yes from controlled)
), unclaimed as (
    -- The function is not called if all of them were claimed. An offer that another session withdrew while this one waited for a
    -- lock has not lapsed in this snapshot.
    select minutehand.note_unclaimed(array_agg(id), array_agg(tenant), array_agg(offered), array_agg(visible), array_agg('lapsed'::text))
      from minutehand.jobs_live
     where id = any (array(select id from chosen) || array(select id from bounded))
       and offered is not null and (claimed is null or offered > claimed) and visible <= coalesce(%(now)s, now())
    having count(*) > 0
)
update minutehand.jobs_live
   set ack = gen_random_uuid(),
       prior = case when claimed is null then ack else coalesce(prior, ack) end,
       offered = coalesce(%(now)s, clock_timestamp()),
       visible = coalesce(%(now)s, clock_timestamp()) + %(ttl)s
 where id = any (array(select id from chosen) || array(select id from bounded))
returning id, ack, queue, kind, tenant, coalesce(claimed, lapsed) is not null as alone, (select room from room) as room,
          (select count(*) from unclaimed) as unclaimed
