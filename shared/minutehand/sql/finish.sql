-- Ends a job: done, dead or cancelled. Only for the claim's own ack; late is fine while nobody else has claimed.
update minutehand.jobs
   set deleted = clock_timestamp(), failed = %(failed)s, cancelled = %(cancelled)s,
       result = %(result)s::json, error = coalesce(%(error)s::jsonb, error)
 where deleted is null and id = %(id)s and %(ack)s in (ack, prior)
returning deleted
