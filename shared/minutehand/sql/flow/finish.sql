-- Ends a job: done, dead or cancelled. Only for the claim's own ack; late is fine while nobody else has claimed. With it
-- the attempt is kept and the next occurrence born, or nothing is written at all.
with ended as (
    update minutehand.jobs
       set deleted = clock_timestamp(), failed = %(failed)s, cancelled = %(cancelled)s, version = %(version)s,
           result = coalesce(%(result)s::json, case when %(failed)s then result end),
           error = coalesce(%(error)s::jsonb, error)
     where deleted is null and id = %(id)s and %(ack)s in (ack, prior)
    returning id, tenant, queue, kind, attempts, deleted
), kept as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, error, result, worker, request, memory_mb, version)
    select id, attempts, %(started)s, deleted, tenant, queue, kind, %(outcome)s, %(error)s::jsonb,
           case when %(failed)s then %(result)s::json end, %(worker)s, %(request)s, %(memory_mb)s::integer, %(version)s
      from ended
)
select deleted,
       case when %(next)s::timestamptz is not null  -- of the row as it was: what this snapshot shows is from before
            then (select minutehand.bear(j, %(next)s) from minutehand.jobs_live j where j.id = ended.id) end as next
  from ended
