-- Replaces the defaults of a queue.
insert into minutehand.queue_defaults (queue, priority, max_attempts, timeout, retry)
values (%(queue)s, %(priority)s, %(max_attempts)s, %(timeout)s, %(retry)s::jsonb)
    on conflict (queue) do update
   set priority = excluded.priority, max_attempts = excluded.max_attempts, timeout = excluded.timeout,
       retry = excluded.retry
