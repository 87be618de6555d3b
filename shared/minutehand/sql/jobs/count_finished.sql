-- Counts the jobs that delete_finished would delete.
select count(*) as jobs
  from minutehand.jobs j
 where j.deleted is not null and j.deleted < %(before)s
   and (%(queue)s::text is null or j.queue = %(queue)s)
   and (%(kind)s::text is null or j.kind = %(kind)s)
   and (%(states)s::text[] is null or minutehand.state(j) = any (%(states)s))
