-- Advances schedules to their next occurrence, and stores why the job of the last one was refused.
update minutehand.schedules s
   set next = m.next, wake = m.wake, fired = coalesce(m.fired, s.fired), last = coalesce(m.last, s.last), error = m.error
  from json_to_recordset(%(moves)s::json) as m (tenant text, name text, next timestamptz, wake timestamptz,
                                                fired timestamptz, last uuid, error jsonb)
 where s.tenant = m.tenant and s.name = m.name
