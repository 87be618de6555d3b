-- Offer and claim in one, for a worker that was not invited: takes the next due rows of a queue, and passes over
-- those that others hold.
with head as materialized (
    select j.id
      from minutehand.lanes l
     cross join lateral (
           select id, visible
             from minutehand.jobs_live
            where queue = l.queue and priority = l.priority
              and visible >= l.floor and visible <= coalesce(%(now)s, now()) and attempts < max_attempts
            order by visible
            limit (select %(most)s::bigint)  -- hidden from the planner, which would rather sort what looks like few rows
              for update skip locked) j
     where l.queue = %(queue)s
     order by l.priority desc, j.visible
     limit %(most)s
)
update minutehand.jobs_live j
   set ack = gen_random_uuid(), prior = null, offered = null, claimed = clock_timestamp(), attempts = j.attempts + 1,
       visible = clock_timestamp() + least(%(lease)s, j.timeout) + %(grace)s
 where j.id = any (array(select id from head))
returning j.id, j.ack, j.queue, j.kind, j.key, j.payload, j.headers, j.priority, j.attempts, j.max_attempts, j.retry,
          j.timeout, j.enqueued, j.run_at, j.claimed, j.visible
