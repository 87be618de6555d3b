-- How many jobs of a queue neither run nor are finished.
select count(*) as jobs
  from minutehand.jobs j
 where j.deleted is null and j.queue = %(queue)s and minutehand.state(j, clock_timestamp()) <> 'running'
