-- Returns what the dispatcher used in a month, by mode and memory; the mode with most invocations first.
select mode, memory_mb, invocations, scheduled, cold, ran_ms, waited_ms, since, capacity, chunk
  from minutehand.dispatcher_usage
 where month = date_trunc('month', %(since)s::timestamptz at time zone 'UTC')::date
 order by invocations desc, mode, memory_mb
 limit 100
