-- Replaces payloads with re-encrypted ones, unless they have changed since.
update minutehand.jobs j
   set payload = given.payload::json
  from unnest(%(ids)s::uuid[], %(former)s::text[], %(payloads)s::text[]) as given (id, former, payload)
 where j.deleted is null and j.id = given.id and j.id = any (%(ids)s::uuid[]) and j.payload::text = given.former
returning j.id
