-- Ends a pause, a limit or both, and returns the previous values.
with was as materialized (
    select * from minutehand.controls
     where (tenant, queue, kind, key, "group", per) = (%(tenant)s, %(queue)s, %(kind)s, %(key)s, %(group)s, %(per)s)
       and (paused and %(pause)s or limited and %(limit)s)
       for update
), changed as (
    update minutehand.controls c
       set paused = c.paused and not %(pause)s, until = case when not %(pause)s then c.until end,
           max_running = case when not %(limit)s then c.max_running end, rate = case when not %(limit)s then c.rate end,
           period = case when not %(limit)s then c.period end, burst = case when not %(limit)s then c.burst end,
           in_order = case when not %(limit)s then c.in_order end, on_dead = case when not %(limit)s then c.on_dead end,
           break_after = case when not %(limit)s then c.break_after end, break_for = case when not %(limit)s then c.break_for end,
           source = case when not %(limit)s then c.source end, hash = case when not %(limit)s then c.hash end,
           changed = clock_timestamp()
      from was
     where (c.tenant, c.queue, c.kind, c.key, c.group, c.per) = (was.tenant, was.queue, was.kind, was.key, was.group, was.per)
       and (c.paused and not %(pause)s or c.limited and not %(limit)s)
), deleted as (
    delete from minutehand.controls c
     using was
     where (c.tenant, c.queue, c.kind, c.key, c.group, c.per) = (was.tenant, was.queue, was.kind, was.key, was.group, was.per)
       and not (was.paused and not %(pause)s or was.limited and not %(limit)s)
)
select tenant, queue, kind, key, "group", per, paused, max_running as "limit", rate, period, burst, in_order, on_dead, break_after, break_for, until,
       reason, changed
  from was
