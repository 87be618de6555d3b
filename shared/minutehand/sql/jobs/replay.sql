-- Enqueues copies of finished jobs, without recurrence; not of jobs whose personal payload was erased.
with old as materialized (
    select j.id, j.tenant, j as job, array_position(%(ids)s::uuid[], j.id) as place
      from minutehand.jobs j
     where j.deleted is not null and j.id = any (%(ids)s) and not (j.personal and j.payload::text = 'null')
), request as materialized (
    select array_agg(minutehand.copy_of(
               job, place, (job).key || %(suffix)s::text,
               clock_timestamp() + %(window)s::interval
               * (('x' || left(md5(id::text), 8))::bit(32)::bigint / 4294967296.0),
               %(max_attempts)s::integer) order by place) as items
      from old
)
select old.id, created.id as new, created.visible, old.tenant
  from request
 cross join lateral minutehand.enqueue_all(request.items, 'ignore') created
  join old on old.place = created.ordinal
 where request.items is not null and created.outcome = 'created'
