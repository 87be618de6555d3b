-- Ends a pause, a limit or both, and returns the previous values.
with was as materialized (
    select * from minutehand.controls
     where (tenant, queue, kind, key) = (%(tenant)s, %(queue)s, %(kind)s, %(key)s)
       and (paused and %(pause)s or most is not null and %(limit)s)
       for update
), changed as (
    update minutehand.controls c
       set paused = c.paused and not %(pause)s, until = case when not %(pause)s then c.until end,
           most = case when not %(limit)s then c.most end, changed = clock_timestamp()
      from was
     where (c.tenant, c.queue, c.kind, c.key) = (was.tenant, was.queue, was.kind, was.key)
       and (c.paused and not %(pause)s or c.most is not null and not %(limit)s)
), deleted as (
    delete from minutehand.controls c
     using was
     where (c.tenant, c.queue, c.kind, c.key) = (was.tenant, was.queue, was.kind, was.key)
       and not (was.paused and not %(pause)s or was.most is not null and not %(limit)s)
)
select tenant, queue, kind, key, paused, most as "limit", until, why as reason, changed from was
