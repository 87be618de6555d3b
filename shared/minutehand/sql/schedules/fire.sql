-- Writes moments into the ledger, and enqueues a job for each that was not in it.
select tenant, schedule, nominal, outcome, job from minutehand.fire(%(firings)s::json)
