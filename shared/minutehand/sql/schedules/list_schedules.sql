-- Schedules by name, of the session's tenant or of all; the subqueries evaluate current_tenant() once.
select tenant, name, every, zone, starts, ends, jitter, ahead, catch_up, max_catch_up, overlap, job, paused, source, hash, next,
       fired, last, error, created, changed
  from minutehand.schedules
 where (tenant = (select minutehand.current_tenant()) or not %(own)s and (select minutehand.current_tenant()) = '')
   and (%(source)s::text is null or source = %(source)s)
 order by name, tenant
