-- Ends as dead what has no attempt left and is due all the same: its last worker never came back.
with spent as materialized (
    select id
      from minutehand.jobs_live
     where deleted is null and attempts >= max_attempts and visible <= coalesce(%(now)s, now())
     order by visible
     limit %(most)s
       for update skip locked
)
update minutehand.jobs
   set deleted = clock_timestamp(), failed = true,
       error = jsonb_build_object('type', 'WorkerDied', 'message', 'the worker of the last attempt never came back')
 where deleted is null and id = any (array(select id from spent))
returning id, queue, kind, attempts
