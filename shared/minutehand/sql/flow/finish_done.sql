-- Does what `finish` does for jobs that are done, in about three quarters of the time, because its plan is smaller. A worker
-- uses it for jobs without an error and a next occurrence. It skips jobs with a batch or a group, and those whose claim is
-- over; `finish` then ends them, or finds that they are lost.
with ended as (
    update minutehand.jobs j
       set deleted = clock_timestamp(), failed = false, cancelled = false, version = %(version)s,
           -- As in `finish`.
           awaited = j.awaited or (select pg_relation_size('minutehand.waits') > 0)
                                  and exists (select from minutehand.waits w where w.predecessor = j.id),
           result = e.result::minutehand.result
      -- A list that is null stands for nulls.
      from unnest(%(ids)s::uuid[], %(acks)s::uuid[], %(seconds)s::float8[], %(results)s::text[]) as e (id, ack, seconds, result)
     -- A subquery hides the number of ids from the planner, as in `finish`.
     where j.deleted is null and j.id = any ((select %(ids)s::uuid[])::uuid[]) and j.id = e.id and j.ack = e.ack
       and j.batch is null and j.group is null
    returning j.id, j.tenant, j.queue, j.kind, j.attempts, j.deleted, j.awaited, e.seconds
), history as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, worker, request, memory_mb, version)
    select id, attempts, deleted - seconds * interval '1 second', deleted, tenant, queue, kind, 'done', %(worker)s, %(request)s,
           %(memory_mb)s::integer, %(version)s
      from ended
)
select id, deleted, awaited from ended
