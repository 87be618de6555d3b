-- Records occurrences in the ledger, and enqueues a job for each new one.
select tenant, schedule, nominal, outcome, job from minutehand.fire_at_tick(%(firings)s::json, %(lock_wait)s::integer)
