-- Creates or changes a schedule; its last firing is kept.
select tenant, name, every, zone, starts, ends, jitter, ahead, catch_up, max_catch_up, overlap, job, paused, source, hash, next,
       fired, last, error, created, changed
  from minutehand.save_schedule(%(name)s, %(every)s, %(zone)s, %(starts)s, %(ends)s, %(jitter)s, %(ahead)s, %(catch_up)s, %(max_catch_up)s::integer,
                                %(overlap)s, %(job)s::json, %(source)s, %(hash)s, %(next)s, %(wake)s)
