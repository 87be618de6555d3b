-- Ends jobs as dead that are due without an attempt left, because the worker of the last one died. A recurring job gets
-- its next occurrence, and is left alone until its next time was computed (`ids` and `nexts`; null if there is none).
-- The functions get the row as it was, with its payload.
with spent as materialized (
    select id
      from minutehand.jobs_live
     where deleted is null and attempts >= max_attempts and visible <= coalesce(%(now)s, now())
       and (every is null or id = any (%(ids)s::uuid[]))
     order by visible
     limit %(limit)s
       for update skip locked
), reaped as (
    update minutehand.jobs j
       set deleted = clock_timestamp(), failed = true,
           error = jsonb_build_object('type', 'WorkerDied', 'message', 'the worker of the last attempt never came back')
     where deleted is null and id = any (array(select id from spent))
    returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant, j.error, coalesce(j.claimed, j.lapsed) as lapsed, j.batch
), history as (
    insert into minutehand.attempts (job, attempt, started, tenant, queue, kind, outcome)
    select id, attempts, lapsed, tenant, queue, kind, 'lapsed' from reaped where lapsed is not null
), counted as (
    select minutehand.count_ends(array_agg(batch), array_agg(id), array_agg('dead'::text)) from reaped where batch is not null having count(*) > 0
)
select r.id, r.queue, r.kind, r.key, r.attempts, r.max_attempts, r.tenant, (select count(*) from counted) as counted,
       (select minutehand.create_occurrence_at_tick(j, n.next, %(lock_wait)s::integer)
          from unnest(%(ids)s::uuid[], %(nexts)s::timestamptz[]) n (id, next)
          join minutehand.jobs_live j on j.id = n.id
         where n.id = r.id and n.next is not null) as next,
       (select minutehand.create_on_dead(j, r.error) from minutehand.jobs_live j
         where j.id = r.id and j.on_dead is not null) as on_dead
  from reaped r
