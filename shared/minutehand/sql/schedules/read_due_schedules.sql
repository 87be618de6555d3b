-- Locks those of the given schedules that are still due, for this transaction. Another dispatcher gets others.
select s.tenant, s.name, s.every, s.zone, s.starts, s.ends, s.jitter, s.ahead, s.catch_up, s.max_catch_up, s.overlap, s.next,
       exists (select from minutehand.jobs j where j.deleted is null and j.id = s.last) as busy
  from unnest(%(tenants)s::text[], %(names)s::text[]) with ordinality as due (tenant, name, place)
  join minutehand.schedules s on s.tenant = due.tenant and s.name = due.name
 where not s.paused and s.wake <= %(now)s
 order by due.place
   for update of s skip locked
