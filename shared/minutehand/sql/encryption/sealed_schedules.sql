-- Schedules whose job has a payload that is encrypted under another key than the current one.
select s.tenant, s.name as schedule, s.job ->> 'kind' as kind, s.job -> 'payload' as payload
  from minutehand.schedules s
   -- Looked into only if it may be one: Postgres does not look into JSON that has a NUL somewhere.
 where case when s.job::text like '%%"minutehand":%%' and s.job::text not like '%%\\u0000%%'
            then s.job -> 'payload' -> 'minutehand' ->> 'key' <> %(name)s else false end
