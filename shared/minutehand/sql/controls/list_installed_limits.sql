-- The limits of a source, and those with the names of the given scopes: where they come from, and a hash of their declaration.
select c.tenant, c.queue, c.kind, c.key, c.group, c.per, c.source, c.hash
  from minutehand.controls c
 where c.limited
   and (c.source = %(source)s
        or (c.tenant, c.queue, c.kind, c.key, c.group, c.per) in (
               select s.tenant, s.queue, s.kind, s.key, s.group, s.per
                 from jsonb_to_recordset(%(scopes)s::jsonb) s (tenant text, queue text, kind text, key text, "group" text, per text)))
