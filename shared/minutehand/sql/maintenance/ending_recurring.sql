-- Returns the recurring jobs among those to reap and those to expire: the next time of each is computed first.
-- It locks them, as `reap` and `expire` do, because a query that locks rows is never parallel. In a large table, the planner would
-- start parallel processes, which took 15 ms of each tick with a million jobs: it expects that a third of the jobs is to end, and
-- that none of them recurs or expires.
select 'reap' as statement, id, every, zone, coalesce(nominal, run_at) as nominal, coalesce(%(now)s, clock_timestamp()) as now
  from (select id, every, zone, nominal, run_at
          from minutehand.jobs_live
         where attempts >= max_attempts and visible <= coalesce(%(now)s, now()) and every is not null
         order by visible
         limit %(limit)s
           for key share skip locked) spent
 union all
select 'expire', id, every, zone, coalesce(nominal, run_at), coalesce(%(now)s, clock_timestamp())
  from (select id, every, zone, nominal, run_at
          from minutehand.jobs_live
         where expires is not null and attempts = 0 and minutehand.expires_at(run_at, expires) <= coalesce(%(now)s, now())
           and every is not null
         order by minutehand.expires_at(run_at, expires)
         limit %(limit)s
           for key share skip locked) late
