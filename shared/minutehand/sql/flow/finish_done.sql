-- Does what `finish` does for jobs that are done, in less time (two thirds for one job, 0.9 for a hundred), because its plan is
-- smaller. A worker uses it for jobs without an error and a next occurrence. It skips jobs with a batch or a group, and those
-- whose claim is over; `finish` then ends them, or finds that they are lost.
-- It finds the values of a job by the place of its id in the list. A join with `unnest`, as in `finish`, takes a tenth longer for
-- one job and as long for a hundred, the most that a worker ends at once; for a thousand it is faster. A list that is null stands
-- for nulls.
-- The result is one row: a row for each job took a worker 3 µs of processor time to read. `ids` are those of the jobs that were
-- ended, and null if all or none were. All have the time of the statement, also if it waits for some of them.
with ended as (
    update minutehand.jobs j
       set deleted = statement_timestamp(), failed = false, cancelled = false, version = %(version)s,
           -- As in `finish`.
           awaited = j.awaited or (select pg_relation_size('minutehand.waits') > 0)
                                  and exists (select from minutehand.waits w where w.predecessor = j.id),
           result = (%(results)s::text[])[array_position(%(ids)s::uuid[], j.id)]::minutehand.result
     -- A subquery hides the number of ids from the planner, as in `finish`.
     where j.deleted is null and j.id = any ((select %(ids)s::uuid[])::uuid[])
       and j.ack = (%(acks)s::uuid[])[array_position(%(ids)s::uuid[], j.id)] and j.batch is null and j.group is null
    returning j.id, j.tenant, j.queue, j.kind, j.attempts, j.deleted, j.awaited
), history as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, worker, request, memory_mb, version)
    select id, attempts, deleted - (%(seconds)s::float8[])[array_position(%(ids)s::uuid[], id)] * interval '1 second', deleted,
           tenant, queue, kind, 'done', %(worker)s, %(request)s, %(memory_mb)s::integer, %(version)s
      from ended
)
select count(*) as ended, max(deleted) as deleted, array_agg(id) filter (where awaited) as awaited,
       case when count(*) < cardinality(%(ids)s::uuid[]) then array_agg(id) end as ids
  from ended
