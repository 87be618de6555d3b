-- Returns the recurring jobs among those to reap: the next time of each is computed first.
select id, every, zone, coalesce(nominal, run_at) as nominal, coalesce(%(now)s, clock_timestamp()) as now
  from minutehand.jobs_live
 where attempts >= max_attempts and visible <= coalesce(%(now)s, now()) and every is not null
 order by visible
 limit %(limit)s
