-- The firings of a schedule of the session's tenant, newest first.
select f.nominal, f.fired, f.outcome, f.count, f.job
  from minutehand.firings f
 where f.tenant = minutehand.current_tenant() and f.schedule = %(name)s
   and (%(before)s::timestamptz is null or f.nominal < %(before)s)
 order by f.nominal desc
 limit %(limit)s
