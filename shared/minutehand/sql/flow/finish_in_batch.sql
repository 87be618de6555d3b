-- Does what `finish_done` does, for jobs some of which are in batches. Those without a batch do not pay for it there. A test
-- compares the two.
with ended as (
    update minutehand.jobs j
       set deleted = statement_timestamp(), failed = false, cancelled = false, version = %(version)s,
           -- As in `finish`.
           awaited = j.awaited or (select pg_relation_size('minutehand.waits') > 0)
                                  and exists (select from minutehand.waits w where w.predecessor = j.id),
           result = (%(results)s::text[])[array_position(%(ids)s::uuid[], j.id)]::minutehand.result
     -- A subquery hides the number of ids from the planner, as in `finish`.
     where j.deleted is null and j.id = any ((select %(ids)s::uuid[])::uuid[])
       and j.ack = (%(acks)s::uuid[])[array_position(%(ids)s::uuid[], j.id)] and j.group is null
    returning j.id, j.tenant, j.queue, j.kind, j.attempts, j.deleted, j.batch, j.awaited
), history as (
    insert into minutehand.attempts
           (job, attempt, started, ended, tenant, queue, kind, outcome, worker, request, memory_mb, version)
    select id, attempts, deleted - (%(seconds)s::float8[])[array_position(%(ids)s::uuid[], id)] * interval '1 second', deleted,
           tenant, queue, kind, 'done', %(worker)s, %(request)s, %(memory_mb)s::integer, %(version)s
      from ended
), counted as (
    select minutehand.count_ends(array_agg(batch), array_agg(id), array_agg('done'::text))
      from ended where batch is not null having count(*) > 0
)
select count(*) as ended, max(deleted) as deleted, array_agg(id) filter (where awaited) as awaited,
       case when count(*) < cardinality(%(ids)s::uuid[]) then array_agg(id) end as ids, (select count(*) from counted) as counted
  from ended
