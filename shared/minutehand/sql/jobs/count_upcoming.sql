-- Counts the upcoming jobs of a queue.
select count(*) as jobs
  from minutehand.jobs j
 where j.deleted is null and j.queue = %(queue)s and minutehand.state(j, clock_timestamp()) <> 'running'
