-- Pending jobs whose payload is encrypted under another key than the current one, by id.
select j.id, j.kind, j.key, j.queue, j.tenant, j.schedule, j.payload, j.payload::text as text
  from minutehand.jobs j
 where j.deleted is null and j.id > %(after)s and (%(queue)s::text is null or j.queue = %(queue)s)
   -- Only text that begins like an envelope is parsed: Postgres cannot parse JSON that contains a NUL.
   and case when j.payload::text like '{"minutehand":%%' then j.payload -> 'minutehand' ->> 'key' <> %(name)s else false end
 order by j.id
 limit %(limit)s
