-- Offers and claims in one statement, for a worker that was not invited: takes the next due rows of a queue, and skips
-- locked ones. If anything is paused or limited, or jobs have groups, the function `choose` selects the rows.
-- A worker of the stack, which has been invited for others before, takes no more rows than slots that these have freed, and
-- `only` those that suit it, of the first ones. There, tenants that share the queue take turns.
-- A row whose last claim lapsed is taken alone: it may have ended its worker's process, together with other jobs. So is one whose
-- timeout is longer than the lease: others would have to wait for it. `longest` is null, or the time that the worker has left.
-- `behind` is null, or the time since the worker saw all due jobs, plus a second. `found` is how many rows were locked without `choose`.
-- minutehand.lapse() records the former attempt as lapsed if it has no outcome.
with slot as materialized (
    select case when %(freed)s::timestamptz[] is null then %(limit)s::bigint
                else least(%(limit)s, minutehand.free_slots(%(queue)s, %(freed)s)) end as count
), lane as materialized (
    select priority, floor, shared, grouped from minutehand.due_lanes(coalesce(%(now)s, now())) where queue = %(queue)s
), controlled as materialized (
    select exists (select from minutehand.controls where queue in ('', %(queue)s))
           or exists (select from lane where grouped) as yes
), shared as materialized (
    select %(freed)s::timestamptz[] is not null and exists (select from lane where shared) as yes
), head as materialized (
    select j.id, l.priority, j.visible, j.alone
      from lane l
     cross join lateral (
           select id, visible, coalesce(claimed, lapsed) is not null or coalesce(timeout > %(lease)s, false) as alone
             from minutehand.jobs_live
            where queue = %(queue)s and priority = l.priority
              and visible >= greatest(l.floor, coalesce(%(now)s, now()) - %(behind)s::interval) and visible <= coalesce(%(now)s, now())
              and attempts < max_attempts
              and cancelling is null and (expires is null or minutehand.expires_at(run_at, expires) > coalesce(%(now)s, now()) or attempts > 0)
            order by visible
            -- A subquery hides the limit from the planner, which would sort what looks like few rows.
            limit (select count from slot)
              for update skip locked) j
     where %(only)s::jsonb is null and not (select yes from controlled)
     order by j.visible - l.priority * (select priority_step from minutehand.settings)
     limit (select count from slot)
), bounded as materialized (
    select j.id, j.priority, j.visible, j.kind, j.timeout, coalesce(j.claimed, j.lapsed) is not null or coalesce(j.timeout > %(lease)s, false) as alone,
           true as locked
      from minutehand.choose((select count + case when count > 0 and %(only)s::jsonb ? 'kinds' then 20 else 0 end from slot)::integer,
                             coalesce(%(now)s, now()), only_queue => %(queue)s, in_turn => %(freed)s::timestamptz[] is not null,
                             counts => false) chosen
      join minutehand.jobs_live j on j.id = chosen
     where (select yes from controlled) or (select yes from shared)
), suitable as materialized (
    select id, priority, visible, alone, locked
      from (select * from bounded
             union all
            select n.*, false from minutehand.next_due(%(queue)s, (select count + 20 from slot where count > 0), coalesce(%(now)s, now())) n
             where %(only)s::jsonb is not null and not (select yes from controlled) and not (select yes from shared)) due
     where %(only)s::jsonb is null or minutehand.suits(%(only)s::jsonb, kind, timeout, %(lease)s::interval)
     order by visible - priority * (select priority_step from minutehand.settings)
), held as materialized (
    select s.*
      from suitable s
      -- `choose` has locked its rows, and they are not looked up again.
      left join lateral (
           select true as yes
             from minutehand.jobs_live j
            where not s.locked and j.id = s.id and j.visible <= coalesce(%(now)s, now())
            limit 1
              for update skip locked) free on true
     where s.locked or free.yes
     limit (select count from slot)
), placed as materialized (
    select id, alone, first_value(alone) over places as first_alone, row_number() over places as place
      from (select * from head union all select id, priority, visible, alone from held) found
    window places as (order by visible - priority * (select priority_step from minutehand.settings), visible)
)
update minutehand.jobs_live j
   set ack = gen_random_uuid(), prior = null, offered = null, lapsed = coalesce(j.claimed, j.lapsed),
       claimed = clock_timestamp(), attempts = j.attempts + 1,
       visible = clock_timestamp() + least(coalesce(j.timeout, %(lease)s), %(longest)s::interval) + %(grace)s
 where j.id = any ((select case when (select yes from controlled)
                               then minutehand.count_taken(taken.ids, %(queue)s, coalesce(%(now)s, now())) else taken.ids end
                     from (select array(select id from placed where place = 1 or not (alone or first_alone)) as ids) taken)::uuid[])
returning j.id, j.ack, j.queue, j.kind, j.key, j.group, j.payload, j.headers, j.priority, j.attempts, j.max_attempts, j.retry,
          j.timeout, j.enqueued, j.run_at, j.claimed, j.tenant, j.every, j.zone, j.nominal, j.schedule, j.batch, j.after,
          case when j.attempts = 1 and j.expires is not null then minutehand.expires_at(j.run_at, j.expires) - clock_timestamp() end as start_within,
          j.result as stored_result,
          case when j.group is not null then minutehand.order_of(j.queue, j.tenant, j.group) end as group_order,
          case when j.lapsed is not null then minutehand.lapse(j, j.attempts - 1, j.lapsed) end,
          (select count(*) from head) as found
