-- Makes a claimed job visible again later: a retry, a snooze, or a release by a worker that did not start it. The last
-- two do not count as attempts. Fenced like finish, and the attempt is written as well. Raises an error if the job's key
-- was enqueued since the claim.
with back as (
    update minutehand.jobs_live
       set ack = null, prior = null, offered = null, claimed = null, lapsed = null,
           visible = clock_timestamp() + %(delay)s, attempts = attempts - %(refund)s,
           result = coalesce(%(result)s::minutehand.result, result), error = coalesce(%(error)s::minutehand.error, error)
     where id = %(id)s and %(ack)s in (ack, prior) and cancelling is null
    returning id, tenant, queue, kind, attempts, visible,
              case when key is not null then minutehand.refuse_superseded(id) end
), history as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, error, result, worker, request, memory_mb, version)
    select id, attempts + %(refund)s, %(started)s, clock_timestamp(), tenant, queue, kind, %(outcome)s, %(error)s::minutehand.error,
           %(result)s::minutehand.result, %(worker)s, %(request)s, %(memory_mb)s::integer, %(version)s
      from back
)
select visible from back
