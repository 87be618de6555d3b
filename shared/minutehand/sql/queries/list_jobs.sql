-- Lists a page of jobs without payloads, newest first.
select j.id, j.queue, j.kind, j.key, j.group, j.priority, j.attempts, j.max_attempts, j.enqueued, j.run_at, j.visible, j.offered,
       j.claimed, j.deleted, j.error, j.tenant, j.version, j.every, j.zone, j.nominal, j.schedule, j.batch, j.cancelling,
       minutehand.state(j) as state
  from minutehand.jobs j
 where (%(before)s::uuid is null or j.id < %(before)s)
   and (%(queue)s::text is null or j.queue = %(queue)s)
   and (%(kind)s::text is null or j.kind = %(kind)s)
   and (%(key)s::text is null or j.key = %(key)s)
   and (%(group)s::text is null or j.group = %(group)s)
   and (%(priority)s::integer is null or j.priority = %(priority)s)
   and (%(headers)s::jsonb is null or j.headers @> %(headers)s::jsonb)
   and (%(version)s::text is null or j.version = %(version)s)
   and (%(tenant)s::text is null or j.tenant = %(tenant)s)
   and (%(since)s::timestamptz is null or j.enqueued >= %(since)s)
   and (%(until)s::timestamptz is null or j.enqueued < %(until)s)
   and (%(finished_since)s::timestamptz is null or j.deleted is not null and j.deleted >= %(finished_since)s)
   and (%(finished_until)s::timestamptz is null or j.deleted is not null and j.deleted < %(finished_until)s)
   and (%(finished)s::boolean is null or (j.deleted is not null) = %(finished)s)
   and (%(result_dropped)s::boolean is not true
        or j.deleted is not null and not j.failed and j.error ->> 'stage' = 'result')
   and (%(states)s::text[] is null or minutehand.state(j) = any (%(states)s))
 order by j.id desc
 limit %(limit)s
