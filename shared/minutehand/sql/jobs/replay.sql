-- Enqueues finished jobs anew, as clones that do not recur; not those whose personal payload is gone.
with old as materialized (
    select j.*, array_position(%(ids)s::uuid[], j.id) as place
      from minutehand.jobs j
     where j.deleted is not null and j.id = any (%(ids)s) and not (j.personal and j.payload::text = 'null')
), asked as materialized (
    -- A row and no json_populate_record, which cannot read what has \u0000 in it.
    select array_agg(row(place, kind, payload, queue, key || %(suffix)s::text,
                         clock_timestamp() + %(window)s::interval
                         * (('x' || left(md5(id::text), 8))::bit(32)::bigint / 4294967296.0), null,
                         priority, coalesce(%(max_attempts)s::integer, max_attempts), retry, timeout, headers,
                         null, null, nominal, null, personal, tenant,
                         null, null, null, null, null, null, null)::minutehand.new_job order by place) as items
      from old
)
select old.id, made.id as new, made.visible, old.tenant
  from asked
 cross join lateral minutehand.enqueue_all(asked.items, 'ignore') made
  join old on old.place = made.ordinal
 where asked.items is not null and made.outcome = 'created'
