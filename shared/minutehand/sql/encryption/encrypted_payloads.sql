-- The jobs among these ids whose payload is encrypted.
select j.id, j.kind, j.key, j.queue, j.tenant, j.schedule, j.payload, j.payload::text as text
  from minutehand.jobs j
 where j.id = any (%(ids)s) and j.payload::text like '{"minutehand":%%'
