-- Replaces the defaults of a kind.
insert into minutehand.defaults (kind, queue, priority, max_attempts, timeout, retry)
values (%(kind)s, %(queue)s, %(priority)s, %(max_attempts)s, %(timeout)s, %(retry)s::jsonb)
    on conflict (kind) do update
   set queue = excluded.queue, priority = excluded.priority, max_attempts = excluded.max_attempts,
       timeout = excluded.timeout, retry = excluded.retry
