-- Ends a claimed job that cannot come back, because its key has a newer upcoming job, which is also the next occurrence.
with ended as (
    update minutehand.jobs
       set deleted = clock_timestamp(), failed = true, cancelled = true, version = %(version)s,
           result = coalesce(%(result)s::minutehand.result, result),
           error = jsonb_build_object('type', 'Superseded', 'message', 'a newer job with the same key took its place'
                                                               || coalesce('; before, ' || %(reason)s::text, ''))
     where deleted is null and id = %(id)s and %(ack)s in (ack, prior)
    returning id, tenant, queue, kind, attempts, deleted, "group"
), history as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, error, result, worker, request, memory_mb, version)
    select id, attempts, deleted - %(seconds)s * interval '1 second', deleted, tenant, queue, kind, %(outcome)s, %(error)s::minutehand.error, %(result)s::minutehand.result,
           %(worker)s, %(request)s, %(memory_mb)s::integer, %(version)s
      from ended
), noted as (
    -- The attempt counts for its group as if the job came back.
    select minutehand.note_outcomes(array[queue], array[tenant], array["group"], array[%(ending)s::text], array[%(hold)s::interval])
      from ended where "group" is not null
)
select deleted, (select count(*) from noted) as noted from ended
