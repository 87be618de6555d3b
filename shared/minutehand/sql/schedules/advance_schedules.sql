-- Advances schedules to their next moment.
update minutehand.schedules s
   set next = m.next, wake = m.wake, fired = coalesce(m.fired, s.fired), last = coalesce(m.last, s.last)
  from json_to_recordset(%(moves)s::json) as m (tenant text, name text, next timestamptz, wake timestamptz,
                                                fired timestamptz, last uuid)
 where s.tenant = m.tenant and s.name = m.name
