-- Adds an invocation of the dispatcher to the usage of its month.
insert into minutehand.dispatcher_usage as u
       (month, mode, memory_mb, invocations, scheduled, cold, ran_ms, waited_ms, capacity, chunk)
values (date_trunc('month', clock_timestamp() at time zone 'UTC')::date, %(mode)s, %(memory_mb)s, 1, %(scheduled)s::boolean::integer,
        %(cold)s::boolean::integer, %(ran_ms)s, %(waited_ms)s, %(capacity)s, %(chunk)s)
    on conflict (month, mode, memory_mb) do update
   set invocations = u.invocations + 1, scheduled = u.scheduled + excluded.scheduled, cold = u.cold + excluded.cold,
       ran_ms = u.ran_ms + excluded.ran_ms, waited_ms = u.waited_ms + excluded.waited_ms,
       capacity = excluded.capacity, chunk = excluded.chunk
