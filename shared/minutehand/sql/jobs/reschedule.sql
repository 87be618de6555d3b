-- Moves upcoming jobs to a moment, or by a delay from now. A moment in the past means now. `expires` counts from
-- the new moment.
update minutehand.jobs j
   set lapsed = coalesce(claimed, lapsed),
       ack = null, prior = null, offered = null, claimed = null,
       run_at = greatest(%(run_at)s::timestamptz, clock_timestamp() + %(delay)s::interval, clock_timestamp()),
       visible = greatest(%(run_at)s::timestamptz, clock_timestamp() + %(delay)s::interval, clock_timestamp())
 where j.deleted is null and j.id = any (%(ids)s) and attempts < max_attempts and cancelling is null
   and minutehand.state(j, clock_timestamp()) <> 'running'
returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant,
          case when j.key is not null then minutehand.refuse_superseded(j.id) end
