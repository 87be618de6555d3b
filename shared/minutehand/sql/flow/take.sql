-- Offers and claims in one statement, for a worker that was not invited: takes the next due rows of a queue, and skips
-- locked ones. If anything is paused or limited, the function `choose` selects the rows.
-- minutehand.lapse() records the former attempt as lapsed if it has no outcome.
with controlled as materialized (
    select exists (select from minutehand.controls where queue in ('', %(queue)s)) as yes
), head as materialized (
    select j.id
      from minutehand.due_lanes(coalesce(%(now)s, now())) l
     cross join lateral (
           select id, visible
             from minutehand.jobs_live
            where queue = l.queue and priority = l.priority
              and visible >= l.floor and visible <= coalesce(%(now)s, now()) and attempts < max_attempts
              and cancelling is null and (expires_at is null or expires_at > coalesce(%(now)s, now()) or attempts > 0)
            order by visible
            -- A subquery hides the limit from the planner, which would sort what looks like few rows.
            limit (select %(limit)s::bigint)
              for update skip locked) j
     where l.queue = %(queue)s and not (select yes from controlled)
     order by l.priority desc, j.visible
     limit %(limit)s
), bounded as materialized (
    select id
      from minutehand.choose(%(limit)s::integer, coalesce(%(now)s, now()), only_queue => %(queue)s) id
     where (select yes from controlled)
)
update minutehand.jobs_live j
   set ack = gen_random_uuid(), prior = null, offered = null, lapsed = coalesce(j.claimed, j.lapsed),
       claimed = clock_timestamp(), attempts = j.attempts + 1,
       visible = clock_timestamp() + least(%(lease)s, j.timeout) + %(grace)s
 where j.id = any (array(select id from head) || array(select id from bounded))
returning j.id, j.ack, j.queue, j.kind, j.key, j.group, j.payload, j.headers, j.priority, j.attempts, j.max_attempts, j.retry,
          j.timeout, j.enqueued, j.run_at, j.claimed, j.visible, j.tenant, j.every, j.zone, j.nominal, j.schedule,
          case when j.attempts = 1 then j.expires_at - clock_timestamp() end as start_within, j.result as stored_result,
          case when j.lapsed is not null then minutehand.lapse(j, j.attempts - 1, j.lapsed) end
