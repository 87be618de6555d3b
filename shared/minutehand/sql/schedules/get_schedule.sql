-- One schedule of the session's tenant.
select tenant, name, every, zone, starts, ends, jitter, ahead, catch_up, max_catch_up, overlap, job, paused, source, hash, next,
       fired, last, error, created, changed
  from minutehand.schedules
 where tenant = minutehand.current_tenant() and name = %(name)s
