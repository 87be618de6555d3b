-- Puts payloads that were encrypted anew where the former ones still are.
update minutehand.jobs j
   set payload = given.payload::json
  from unnest(%(ids)s::uuid[], %(was)s::text[], %(payloads)s::text[]) as given (id, was, payload)
 where j.deleted is null and j.id = given.id and j.id = any (%(ids)s::uuid[]) and j.payload::text = given.was
returning j.id
