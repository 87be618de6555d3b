-- Deletes some of a queue's jobs that neither run nor are finished.
with few as materialized (
    select j.id
      from minutehand.jobs j
     where j.deleted is null and j.queue = %(queue)s and minutehand.state(j, clock_timestamp()) <> 'running'
     limit %(most)s
       for update skip locked
)
delete from minutehand.jobs j where j.deleted is null and j.id = any (array(select id from few)) returning j.id
