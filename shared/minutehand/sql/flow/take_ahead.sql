-- Does what `take` does for a resident worker, in a fifth less time, because its plan is smaller. It takes nothing if anything is
-- paused or limited, or if jobs have groups. A worker runs it together with its last outcomes, and `take` after it if it found
-- nothing.
-- `reached`, in one of the rows, is the time of the last due job that was taken, whose id the row has, if all jobs up to it were
-- taken and are more than a second late. With the priority, the time and the id as parameters, the next take begins there: until
-- a vacuum, and under an old snapshot also after it, each take would read the entries of all jobs that were taken before.
with lane as materialized (
    select priority, floor, grouped from minutehand.due_lanes(now()) where queue = %(queue)s
), head as materialized (
    select j.id, l.priority, j.visible, j.alone
      from lane l
     cross join lateral (
           select id, visible, coalesce(claimed, lapsed) is not null as alone
             from minutehand.jobs_live
            where queue = %(queue)s and priority = l.priority
              and (visible, id) >= (case when l.priority = %(after_priority)s then %(after_visible)s::timestamptz else l.floor end,
                                    case when l.priority = %(after_priority)s then %(after_id)s::uuid
                                         else '00000000-0000-0000-0000-000000000000' end)
              and visible <= now() and attempts < max_attempts
              and cancelling is null and (expires is null or minutehand.expires_at(run_at, expires) > now() or attempts > 0)
            order by visible, id
            -- A subquery hides the limit from the planner, which would sort what looks like few rows.
            limit (select %(limit)s::bigint)
              for update skip locked) j
     where not exists (select from minutehand.controls where queue in ('', %(queue)s))
       and not exists (select from lane where grouped)
     order by j.visible - l.priority * (select priority_step from minutehand.settings)
     limit (select %(limit)s::bigint)
), placed as materialized (
    select id, alone, first_value(alone) over places as first_alone, row_number() over places as place
      from head
    window places as (order by visible - priority * (select priority_step from minutehand.settings), visible)
), last as materialized (
    select id, visible
      from head
     where visible < now() - interval '1 second' and (select count(*) from lane) = 1 and not exists (select from head where alone)
     order by visible desc, id desc
     limit 1
)
update minutehand.jobs_live j
   set ack = gen_random_uuid(), prior = null, offered = null, lapsed = coalesce(j.claimed, j.lapsed),
       claimed = clock_timestamp(), attempts = j.attempts + 1,
       visible = clock_timestamp() + least(%(lease)s, j.timeout) + %(grace)s
 where j.id = any ((select array(select id from placed where place = 1 or not (alone or first_alone)))::uuid[])
returning j.id, j.ack, j.queue, j.kind, j.key, j.group, j.payload, j.headers, j.priority, j.attempts, j.max_attempts, j.retry,
          j.timeout, j.enqueued, j.run_at, j.claimed, j.tenant, j.every, j.zone, j.nominal, j.schedule, j.batch, j.after,
          case when j.attempts = 1 and j.expires is not null then minutehand.expires_at(j.run_at, j.expires) - clock_timestamp() end as start_within,
          j.result as stored_result,
          case when j.lapsed is not null then minutehand.lapse(j, j.attempts - 1, j.lapsed) end,
          case when j.id = (select id from last) then (select visible from last) end as reached
