-- Ends a pause, a limit or both, and returns the previous values.
with was as materialized (
    select * from minutehand.controls
     where (tenant, queue, kind, key) = (%(tenant)s, %(queue)s, %(kind)s, %(key)s)
       and (paused and %(pause)s or max_running is not null and %(limit)s)
       for update
), changed as (
    update minutehand.controls c
       set paused = c.paused and not %(pause)s, until = case when not %(pause)s then c.until end,
           max_running = case when not %(limit)s then c.max_running end, changed = clock_timestamp()
      from was
     where (c.tenant, c.queue, c.kind, c.key) = (was.tenant, was.queue, was.kind, was.key)
       and (c.paused and not %(pause)s or c.max_running is not null and not %(limit)s)
), deleted as (
    delete from minutehand.controls c
     using was
     where (c.tenant, c.queue, c.kind, c.key) = (was.tenant, was.queue, was.kind, was.key)
       and not (was.paused and not %(pause)s or was.max_running is not null and not %(limit)s)
)
select tenant, queue, kind, key, paused, max_running as "limit", until, reason, changed from was
