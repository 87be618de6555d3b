-- Enqueues finished jobs anew, as clones that do not recur; not those whose personal payload is gone.
with old as materialized (
    select j.*, array_position(%(ids)s::uuid[], j.id) as place
      from minutehand.jobs j
     where j.deleted is not null and j.id = any (%(ids)s) and not (j.personal and j.payload::text = 'null')
), asked as materialized (
    select array_agg(json_populate_record(null::minutehand.new_job, json_build_object(
               'ordinal', place, 'kind', kind, 'payload', payload, 'queue', queue, 'key', key || %(suffix)s::text,
               'priority', priority, 'max_attempts', coalesce(%(max_attempts)s::integer, max_attempts), 'retry', retry,
               'timeout', timeout, 'headers', headers, 'nominal', nominal, 'tenant', tenant,
               'run_at', clock_timestamp() + %(window)s::interval
                         * (('x' || left(md5(id::text), 8))::bit(32)::bigint / 4294967296.0))) order by place) as items
      from old
)
select old.id, made.id as new, made.visible
  from asked
 cross join lateral minutehand.enqueue_all(asked.items, 'ignore') made
  join old on old.place = made.ordinal
 where asked.items is not null and made.outcome = 'created'
