-- Returns ids of jobs of a batch that ended without success, after an id.
select id
  from minutehand.jobs
 where deleted is not null and failed and batch = %(batch)s and id > %(after)s
 order by id
 limit %(limit)s
