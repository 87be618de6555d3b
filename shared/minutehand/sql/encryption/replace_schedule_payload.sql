-- Replaces a schedule's payload with a re-encrypted one, unless it has changed since.
update minutehand.schedules s
   set job = jsonb_set(s.job::jsonb, '{payload}', %(payload)s::jsonb)::json
 where s.tenant = %(tenant)s and s.name = %(schedule)s and (s.job -> 'payload')::jsonb = %(former)s::jsonb
returning s.name
