-- Ends jobs that have expired before they started. A recurring job gets its next occurrence, and is left alone until its
-- next time was computed (`ids` and `nexts`; null if there is none).
-- minutehand.create_occurrence_at_tick() copies the row as it was, with its payload.
with late as materialized (
    select id
      from minutehand.jobs_live
     where expires is not null and attempts = 0 and minutehand.expires_at(run_at, expires) <= coalesce(%(now)s, now())
       and (every is null or id = any (%(ids)s::uuid[]))
     order by minutehand.expires_at(run_at, expires)
     limit %(limit)s
       for update skip locked
), expired as (
    update minutehand.jobs j
       set deleted = clock_timestamp(), failed = true,
           error = jsonb_build_object('type', 'Expired', 'message', 'it did not start within ' || expires || ' of its run_at')
     where deleted is null and id = any (array(select id from late))
    returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant, j.batch
), counted as (
    select minutehand.count_ends(array_agg(batch), array_agg(id), array_agg('expired'::text)) from expired where batch is not null having count(*) > 0
)
select e.id, e.queue, e.kind, e.key, e.attempts, e.max_attempts, e.tenant, (select count(*) from counted) as counted,
       (select minutehand.create_occurrence_at_tick(j, n.next, %(lock_wait)s::integer)
          from unnest(%(ids)s::uuid[], %(nexts)s::timestamptz[]) n (id, next)
          join minutehand.jobs_live j on j.id = n.id
         where n.id = e.id and n.next is not null) as next
  from expired e
