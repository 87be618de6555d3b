-- Sets aside schedules that could not be fired, until they are tried again, and stores why.
update minutehand.schedules s
   set wake = %(now)s::timestamptz + %(retry)s, error = m.error
  from json_to_recordset(%(errors)s::json) as m (tenant text, name text, error jsonb)
 where s.tenant = m.tenant and s.name = m.name
