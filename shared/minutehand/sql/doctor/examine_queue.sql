-- Facts about the queue; needs the privileges of minutehand_reader.
select (select nullif(ticked, '-infinity') from minutehand.dispatcher) as ticked, clock_timestamp() as now,
       (select mode from minutehand.dispatcher) as mode,
       (select wakeup_failed from minutehand.dispatcher) as wakeup_failed, (select wakeup_error from minutehand.dispatcher) as wakeup_error,
       (select max_payload from minutehand.settings) as max_payload,
       (select coalesce(array_agg(day order by day), '{}')
          from (values (0), (1)) ahead (n), to_char(now() at time zone 'UTC' + n * interval '1 day', 'YYYYMMDD') day
         where to_regclass('minutehand.jobs_done_' || day) is null) as days_missing,
       (select count(*) from (select from minutehand.jobs_done_default limit 1000) counted) as without_day,
       (select count(*)
          from (select from minutehand.jobs
                 where deleted > now() - interval '7 days' and failed and not cancelled
                   and (attempts > 0 or expires is null) limit 1000) counted) as dead,
       (select coalesce(array_agg(fault), '{}')
          from (select 'schedule ' || name || coalesce(' of tenant ' || nullif(tenant, ''), '') || ': '
                       || left(error ->> 'message', 200) as fault
                  from minutehand.schedules where error is not null and not paused order by tenant, name limit 5) failed) as failed_schedules,
       (select coalesce(array_agg(fault), '{}')
          from (select 'batch ' || id || ' is open since ' || to_char(created at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') as fault
                  from minutehand.batches where closed is null and created < now() - interval '1 day' order by created limit 5) b
       ) as open_batches,
       (select coalesce(array_agg('load ' || load || ' left a table of staged jobs at ' || to_char(began at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')), '{}')
          from minutehand.dead_loads()) as dead_loads,
       t.n_dead_tup as dead_rows, t.n_live_tup as live_rows,
       c.reloptions @> '{autovacuum_enabled=false}' or c.reloptions @> '{autovacuum_enabled=off}' as unvacuumed
  from pg_class c join pg_stat_all_tables t on t.relid = c.oid
 where c.oid = 'minutehand.jobs_live'::regclass
