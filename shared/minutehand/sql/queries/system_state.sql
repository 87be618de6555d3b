-- Returns what concerns the whole installation: the time, the latest ticks, how much of the capacity is in use, the versions of
-- the schema, and the connections. Needs the privileges of minutehand_reader.
select clock_timestamp() as now, nullif(d.ticked, '-infinity') as ticked, nullif(d.since, '-infinity') as previous,
       nullif(d.swept, '-infinity') as swept, d.wakeup_failed, d.wakeup_error, d.capacity, d.offer_ttl,
       (select count(*)
          from (select from minutehand.jobs_live j
                 where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= d.busy_since
                   and j.visible > now()
                 limit %(limit)s) b) as busy,
       (select max(version) from minutehand.migrations) as schema_version,
       (select max(applied) from minutehand.migrations) as migrated,
       (select sum(numbackends) from pg_stat_database)::bigint as connections,
       current_setting('max_connections')::integer as max_connections
  from minutehand.dispatcher d
