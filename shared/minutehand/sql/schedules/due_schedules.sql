-- Locks the due schedules for this transaction; another dispatcher gets others.
select s.tenant, s.name, s.every, s.zone, s.starts, s.ends, s.jitter, s.ahead, s.catch_up, s.max_catch_up, s.overlap, s.next,
       coalesce(%(now)s, now()) as now,
       exists (select from minutehand.jobs j where j.deleted is null and j.id = s.last) as busy
  from minutehand.schedules s
 where not s.paused and s.wake <= coalesce(%(now)s, now())
 order by s.wake
 limit %(limit)s
   for update of s skip locked
