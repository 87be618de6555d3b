-- How many jobs each queue has in each state, and since when the first of them waits or is finished.
select j.queue, minutehand.state(j) as state, count(*) as jobs, min(coalesce(j.deleted, j.visible)) as since
  from minutehand.jobs j
 group by 1, 2
 order by 1, 2
