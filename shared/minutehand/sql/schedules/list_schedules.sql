-- A page of the schedules by name, of the session's tenant or of all; the subqueries evaluate current_tenant() once.
select tenant, name, every, zone, starts, ends, jitter, ahead, catch_up, max_catch_up, overlap, job, paused, source, hash, next,
       fired, last, error, created, changed
  from minutehand.schedules
 where (select minutehand.current_tenant()) in ('', tenant)
   and (%(source)s::text is null or source = %(source)s)
   and (%(after_name)s::text is null or (name, tenant) > (%(after_name)s, %(after_tenant)s::text))
 order by name, tenant
 limit %(limit)s
