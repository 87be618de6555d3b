-- Replaces the defaults of a kind.
insert into minutehand.defaults (kind, queue, priority, max_attempts, timeout, retry, on_dead)
values (%(kind)s, %(queue)s, %(priority)s, %(max_attempts)s, %(timeout)s, %(retry)s::jsonb, %(on_dead)s::json)
    on conflict (kind) do update
   set queue = excluded.queue, priority = excluded.priority, max_attempts = excluded.max_attempts,
       timeout = excluded.timeout, retry = excluded.retry, on_dead = excluded.on_dead
