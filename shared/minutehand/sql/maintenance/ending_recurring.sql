-- Returns the recurring jobs among those to reap and those to expire: the next time of each is computed first.
(select 'reap' as statement, id, every, zone, coalesce(nominal, run_at) as nominal, coalesce(%(now)s, clock_timestamp()) as now
   from minutehand.jobs_live
  where attempts >= max_attempts and visible <= coalesce(%(now)s, now()) and every is not null
  order by visible
  limit %(limit)s)
 union all
(select 'expire', id, every, zone, coalesce(nominal, run_at), coalesce(%(now)s, clock_timestamp())
   from minutehand.jobs_live
  where expires is not null and attempts = 0 and minutehand.expires_at(run_at, expires) <= coalesce(%(now)s, now()) and every is not null
  order by minutehand.expires_at(run_at, expires)
  limit %(limit)s)
