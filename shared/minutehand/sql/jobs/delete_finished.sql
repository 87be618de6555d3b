-- Deletes a chunk of the jobs that finished before a moment.
with old as materialized (
    select j.id, j.deleted
      from minutehand.jobs j
     where j.deleted is not null and j.deleted < %(before)s
       and (%(queue)s::text is null or j.queue = %(queue)s)
       and (%(kind)s::text is null or j.kind = %(kind)s)
       and (%(states)s::text[] is null or minutehand.state(j) = any (%(states)s))
     limit %(limit)s
)
delete from minutehand.jobs j
 where j.deleted is not null and j.deleted = any (array(select deleted from old)) and j.id = any (array(select id from old))
returning j.id
