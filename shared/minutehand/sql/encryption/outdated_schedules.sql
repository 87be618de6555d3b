-- Schedules whose payload is encrypted under another key than the current one.
select s.tenant, s.name as schedule, s.job ->> 'kind' as kind, s.job -> 'payload' as payload
  from minutehand.schedules s
   -- Only text that may contain an envelope is parsed: Postgres cannot parse JSON that contains a NUL.
 where case when s.job::text like '%%"minutehand":%%' and s.job::text not like '%%\\u0000%%'
            then s.job -> 'payload' -> 'minutehand' ->> 'key' <> %(name)s else false end
