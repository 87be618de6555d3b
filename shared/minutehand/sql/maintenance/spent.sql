-- What recurs among the jobs that are to be buried: the next moment of each has to be known before.
select id, every, zone, coalesce(nominal, run_at) as nominal, coalesce(%(now)s, clock_timestamp()) as now
  from minutehand.jobs_live
 where attempts >= max_attempts and visible <= coalesce(%(now)s, now()) and every is not null
 order by visible
 limit %(most)s
