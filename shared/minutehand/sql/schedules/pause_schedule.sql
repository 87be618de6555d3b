-- Pauses or resumes a schedule.
update minutehand.schedules
   set paused = %(paused)s, next = %(next)s, wake = %(wake)s, changed = clock_timestamp()
 where tenant = minutehand.current_tenant() and name = %(name)s
returning tenant, name, every, zone, starts, ends, jitter, ahead, catch_up, max_catch_up, overlap, job, paused, source, hash, next,
          fired, last, created, changed
