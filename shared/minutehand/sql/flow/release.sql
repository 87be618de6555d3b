-- Makes claimed jobs visible again later: a retry, a snooze, or a release by a worker that did not start it. The last two
-- do not count as attempts. Fenced like finish, and the attempts are written as well. Raises an error if the key of a job
-- was enqueued since the claim.
with back as (
    update minutehand.jobs_live j
       set ack = null, prior = null, offered = null, claimed = null, lapsed = null,
           visible = clock_timestamp() + e.delay, attempts = j.attempts - e.refund,
           result = coalesce(e.result::minutehand.result, j.result), error = coalesce(e.error::minutehand.error, j.error)
      from unnest(%(ids)s::uuid[], %(acks)s::uuid[], %(outcomes)s::text[], %(seconds)s::float8[], %(results)s::text[],
                  %(errors)s::text[], %(delays)s::interval[], %(refunds)s::integer[], %(holds)s::interval[])
           as e (id, ack, outcome, seconds, result, error, delay, refund, hold)
     -- The subquery is explained in finish.sql.
     where j.id = any ((select %(ids)s::uuid[])::uuid[]) and j.id = e.id and e.ack in (j.ack, j.prior) and j.cancelling is null
    returning j.id, j.tenant, j.queue, j.kind, j.attempts + e.refund as attempt, j.visible, clock_timestamp() as ended, j.group, e.outcome, e.seconds, e.hold,
              e.error as own_error, e.result as own_result,
              case when j.key is not null then minutehand.refuse_superseded(j.id) end
), history as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, error, result, worker, request, memory_mb, version)
    select id, attempt, ended - seconds * interval '1 second', ended, tenant, queue, kind, outcome, own_error::minutehand.error,
           own_result::minutehand.result, %(worker)s, %(request)s, %(memory_mb)s::integer, %(version)s
      from back
), noted as (
    -- Not evaluated for jobs without a group.
    select minutehand.note_outcomes(array_agg(queue), array_agg(tenant), array_agg("group"), array_agg(outcome), array_agg(hold))
      from back where "group" is not null having count(*) > 0
)
select id, visible, ended, (select count(*) from noted) as noted from back
