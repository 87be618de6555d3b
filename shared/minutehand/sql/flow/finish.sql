-- Ends jobs as done, dead or cancelled, each fenced by the ack of its claim. A late finish is accepted while no other
-- worker has claimed the job. The attempt, the next occurrence and the job of on_dead are written in the same statement.
-- The functions get the row as it was: they read the snapshot from before this statement.
with ended as (
    update minutehand.jobs j
       set deleted = clock_timestamp(), failed = e.outcome <> 'done', cancelled = e.outcome = 'cancelled', version = %(version)s,
           -- The first condition is evaluated once: only where jobs have waited for others, each job is looked up.
           awaited = j.awaited or (select pg_relation_size('minutehand.waits') > 0)
                                  and exists (select from minutehand.waits w where w.predecessor = j.id),
           result = coalesce(e.result::minutehand.result, case when e.outcome <> 'done' then j.result end),
           error = coalesce(e.error::minutehand.error, j.error)
      -- A list that is null stands for nulls.
      from unnest(%(ids)s::uuid[], %(acks)s::uuid[], %(outcomes)s::text[], %(seconds)s::float8[], %(results)s::text[],
                  %(errors)s::text[], %(nexts)s::timestamptz[], %(holds)s::interval[])
           as e (id, ack, outcome, seconds, result, error, next, hold)
     -- A subquery hides the number of ids from the planner. Otherwise a prepared statement would be planned each time for one job.
     where j.deleted is null and j.id = any ((select %(ids)s::uuid[])::uuid[]) and j.id = e.id and e.ack in (j.ack, j.prior)
    returning j.id, j.tenant, j.queue, j.kind, j.attempts, j.deleted, j.cancelling, j.error, j.batch, j.group, j.awaited, e.outcome, e.seconds, e.next, e.hold,
              e.error as own_error, e.result as own_result
), history as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, error, result, worker, request, memory_mb, version)
    select id, attempts, deleted - seconds * interval '1 second', deleted, tenant, queue, kind, outcome, own_error::minutehand.error,
           case when outcome <> 'done' then own_result::minutehand.result end, %(worker)s, %(request)s, %(memory_mb)s::integer,
           %(version)s
      from ended
), counted as (
    -- Not evaluated for jobs without a batch.
    select minutehand.count_ends(array_agg(batch), array_agg(id), array_agg(outcome)) from ended where batch is not null having count(*) > 0
), noted as (
    -- Not evaluated for jobs without a group.
    select minutehand.note_outcomes(array_agg(queue), array_agg(tenant), array_agg("group"), array_agg(outcome), array_agg(hold))
      from ended where "group" is not null having count(*) > 0
)
select id, deleted, awaited, (select count(*) from counted) as counted, (select count(*) from noted) as noted,
       -- A cancellation that came too late for this run still ends the recurrence.
       case when ended.next is not null and ended.cancelling is null
            then (select minutehand.create_occurrence(j, ended.next) from minutehand.jobs_live j where j.id = ended.id) end as next,
       case when outcome = 'dead'
            then (select minutehand.create_on_dead(j, ended.error) from minutehand.jobs_live j
                   where j.id = ended.id and j.on_dead is not null) end as on_dead
  from ended
