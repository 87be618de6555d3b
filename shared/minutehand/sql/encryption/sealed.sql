-- Jobs that wait with a payload that is encrypted under another key than the current one, in the order of their ids.
select j.id, j.kind, j.key, j.queue, j.tenant, j.schedule, j.payload, j.payload::text as text
  from minutehand.jobs j
 where j.deleted is null and j.id > %(after)s and (%(queue)s::text is null or j.queue = %(queue)s)
   -- Looked into only if it looks like an envelope: Postgres does not look into JSON that has a NUL somewhere.
   and case when j.payload::text like '{"minutehand":%%' then j.payload -> 'minutehand' ->> 'key' <> %(name)s else false end
 order by j.id
 limit %(most)s
