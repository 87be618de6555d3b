-- Enqueues copies of finished jobs, without recurrence; not of jobs whose personal payload was erased.
with old as materialized (
    select j.*, array_position(%(ids)s::uuid[], j.id) as place
      from minutehand.jobs j
     where j.deleted is not null and j.id = any (%(ids)s) and not (j.personal and j.payload::text = 'null')
), request as materialized (
    -- A row constructor, because json_populate_record refuses \u0000.
    select array_agg(row(place, kind, payload, queue, key || %(suffix)s::text,
                         clock_timestamp() + %(window)s::interval
                         * (('x' || left(md5(id::text), 8))::bit(32)::bigint / 4294967296.0), null,
                         priority, coalesce(%(max_attempts)s::integer, max_attempts), retry, timeout, headers,
                         null, null, nominal, null, personal, tenant,
                         null, null, null, null, null, null, null)::minutehand.new_job order by place) as items
      from old
)
select old.id, created.id as new, created.visible, old.tenant
  from request
 cross join lateral minutehand.enqueue_all(request.items, 'ignore') created
  join old on old.place = created.ordinal
 where request.items is not null and created.outcome = 'created'
