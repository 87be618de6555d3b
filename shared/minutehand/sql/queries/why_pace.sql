-- Measures how fast a queue was worked off in the last hour, from its jobs among the last 10,000 enqueued that are finished.
select count(*) as finished, min(d.deleted) as since, max(d.deleted) as until
  from (select j.queue, j.deleted
          from minutehand.jobs j
         where j.deleted is not null and j.deleted >= date_trunc('day', now() - interval '1 hour', 'UTC')
         order by j.id desc
         limit 10000) d
 where d.queue = %(queue)s and d.deleted >= now() - interval '1 hour'
