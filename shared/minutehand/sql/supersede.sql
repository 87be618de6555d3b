-- Ends a claimed job that cannot go back: meanwhile its key has an upcoming job, which takes its place.
update minutehand.jobs
   set deleted = clock_timestamp(), failed = true, cancelled = true,
       error = jsonb_build_object('type', 'Superseded', 'message', 'a newer job with the same key took its place'
                                                           || coalesce('; before, ' || %(why)s::text, ''))
 where deleted is null and id = %(id)s and %(ack)s in (ack, prior)
returning deleted
