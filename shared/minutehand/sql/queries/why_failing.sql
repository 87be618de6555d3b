-- The kind of a queue of which the most jobs have failed and will be tried again, with their number and most frequent type of error,
-- among a number of the latest unfinished jobs of all queues.
select r.kind, count(*) as jobs, mode() within group (order by r.type) as type
  from (select j.queue, j.kind, j.error ->> 'type' as type, j.attempts, j.ack
          from minutehand.jobs j
         where j.deleted is null
         order by j.id desc
         limit %(unfinished)s) r
 where r.queue = %(queue)s and r.type is not null and r.attempts > 0 and r.ack is null
 group by r.kind
 order by jobs desc, r.kind
 limit 1
