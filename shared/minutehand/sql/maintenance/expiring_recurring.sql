-- Returns the recurring jobs among those to expire: the next time of each is computed first.
select id, every, zone, coalesce(nominal, run_at) as nominal, coalesce(%(now)s, clock_timestamp()) as now
  from minutehand.jobs_live
 where expires_at is not null and attempts = 0 and expires_at <= coalesce(%(now)s, now()) and every is not null
 order by expires_at
 limit %(limit)s
