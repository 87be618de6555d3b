-- Replaces the defaults of a queue.
insert into minutehand.queue_defaults (queue, priority, max_attempts, timeout, retry, on_dead)
values (%(queue)s, %(priority)s, %(max_attempts)s, %(timeout)s, %(retry)s::jsonb, %(on_dead)s::json)
    on conflict (queue) do update
   set priority = excluded.priority, max_attempts = excluded.max_attempts, timeout = excluded.timeout,
       retry = excluded.retry, on_dead = excluded.on_dead
