-- Deletes a chunk of the upcoming jobs of a queue.
with few as materialized (
    select j.id
      from minutehand.jobs j
     where j.deleted is null and j.queue = %(queue)s and minutehand.state(j, clock_timestamp()) <> 'running'
     limit %(limit)s
       for update skip locked
)
delete from minutehand.jobs j where j.deleted is null and j.id = any (array(select id from few)) returning j.id
