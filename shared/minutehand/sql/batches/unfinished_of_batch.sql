-- Returns ids of unfinished jobs of a batch, after an id.
select id
  from minutehand.jobs
 where deleted is null and batch = %(batch)s and id > %(after)s
 order by id
 limit %(limit)s
