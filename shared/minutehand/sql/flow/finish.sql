-- Ends a job as done, dead or cancelled, fenced by the claim's ack. A late finish is accepted while no other worker has
-- claimed the job. The attempt, the next occurrence and the job of on_dead are written in the same statement.
-- The functions get the row as it was: they read the snapshot from before this statement.
with ended as (
    update minutehand.jobs
       set deleted = clock_timestamp(), failed = %(failed)s, cancelled = %(cancelled)s, version = %(version)s,
           result = coalesce(%(result)s::minutehand.result, case when %(failed)s then result end),
           error = coalesce(%(error)s::minutehand.error, error)
     where deleted is null and id = %(id)s and %(ack)s in (ack, prior)
    returning id, tenant, queue, kind, attempts, deleted, cancelling, error
), history as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, error, result, worker, request, memory_mb, version)
    select id, attempts, %(started)s, deleted, tenant, queue, kind, %(outcome)s, %(error)s::minutehand.error,
           case when %(failed)s then %(result)s::minutehand.result end, %(worker)s, %(request)s, %(memory_mb)s::integer, %(version)s
      from ended
)
select deleted,
       -- A cancellation that came too late for this run still ends the recurrence.
       case when %(next)s::timestamptz is not null and ended.cancelling is null
            then (select minutehand.create_occurrence(j, %(next)s) from minutehand.jobs_live j where j.id = ended.id) end as next,
       case when %(failed)s and not %(cancelled)s
            then (select minutehand.create_on_dead(j, ended.error) from minutehand.jobs_live j
                   where j.id = ended.id and j.on_dead is not null) end as on_dead
  from ended
