-- Ends a claimed job that cannot go back: meanwhile its key has an upcoming job, which takes its place, also as the next
-- occurrence. The attempt is kept as it ended.
with ended as (
    update minutehand.jobs
       set deleted = clock_timestamp(), failed = true, cancelled = true, version = %(version)s,
           result = coalesce(%(result)s::json, result),
           error = jsonb_build_object('type', 'Superseded', 'message', 'a newer job with the same key took its place'
                                                               || coalesce('; before, ' || %(why)s::text, ''))
     where deleted is null and id = %(id)s and %(ack)s in (ack, prior)
    returning id, tenant, queue, kind, attempts, deleted
), kept as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, error, result, worker, request, memory_mb, version)
    select id, attempts, %(started)s, deleted, tenant, queue, kind, %(outcome)s, %(error)s::jsonb, %(result)s::json,
           %(worker)s, %(request)s, %(memory_mb)s::integer, %(version)s
      from ended
)
select deleted from ended
