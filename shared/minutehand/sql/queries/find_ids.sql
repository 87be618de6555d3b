-- Finds the jobs whose ids are in a range: at most three, enough to report that there are several.
select j.id, j.kind || ' in ' || j.queue as label
  from minutehand.jobs j
 where j.id between %(low)s and %(high)s
 order by j.id
 limit 3
