-- Checks the values of an edit, and changes nothing. Only the edit itself may read how large a payload may be.
select %(payload)s::json is null as payload, %(headers)s::jsonb::minutehand.headers is null as headers,
       %(priority)s::integer::minutehand.priority is null as priority,
       %(max_attempts)s::integer::minutehand.max_attempts is null as max_attempts,
       %(retry)s::jsonb::minutehand.retry is null as retry, %(timeout)s::interval::minutehand.timeout is null as timeout,
       %(expires)s::interval::minutehand.expires is null as expires, %(on_dead)s::json::minutehand.on_dead is null as on_dead
