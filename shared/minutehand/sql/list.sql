-- A page of jobs without their payloads, the last enqueued first.
select j.id, j.queue, j.kind, j.key, j.priority, j.attempts, j.max_attempts, j.enqueued, j.run_at, j.visible, j.offered,
       j.claimed, j.deleted, j.error, minutehand.state(j) as state
  from minutehand.jobs j
 where (%(before)s::uuid is null or j.id < %(before)s)
   and (%(queue)s::text is null or j.queue = %(queue)s)
   and (%(kind)s::text is null or j.kind = %(kind)s)
   and (%(key)s::text is null or j.key = %(key)s)
   and (%(finished)s::boolean is null or (j.deleted is not null) = %(finished)s)
   and (%(states)s::text[] is null or minutehand.state(j) = any (%(states)s))
 order by j.id desc
 limit %(most)s
