-- Moves jobs to another moment, or by a delay from now, unless they run. A moment in the past means now.
update minutehand.jobs j
   set ack = null, prior = null, offered = null, claimed = null,
       run_at = greatest(%(run_at)s::timestamptz, clock_timestamp() + %(delay)s::interval, clock_timestamp()),
       visible = greatest(%(run_at)s::timestamptz, clock_timestamp() + %(delay)s::interval, clock_timestamp())
 where j.deleted is null and j.id = any (%(ids)s) and attempts < max_attempts
   and minutehand.state(j, clock_timestamp()) <> 'running'
returning j.id
