-- Puts a payload that was encrypted anew where the former one still is.
update minutehand.schedules s
   set job = jsonb_set(s.job::jsonb, '{payload}', %(payload)s::jsonb)::json
 where s.tenant = %(tenant)s and s.name = %(schedule)s and (s.job -> 'payload')::jsonb = %(was)s::jsonb
returning s.name
