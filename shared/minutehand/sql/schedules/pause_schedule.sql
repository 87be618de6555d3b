-- Pauses or resumes a schedule.
select tenant, name, every, zone, starts, ends, jitter, ahead, catch_up, max_catch_up, overlap, job, paused, source, hash, next,
       fired, last, error, created, changed
  from minutehand.pause_schedule(%(name)s, %(paused)s, %(next)s, %(wake)s)
