-- Returns the time, when the dispatcher last ticked, how many connections the server has, and how many it allows.
select clock_timestamp() as now, (select nullif(ticked, '-infinity') from minutehand.dispatcher) as ticked,
       (select sum(numbackends) from pg_stat_database)::bigint as connections,
       current_setting('max_connections')::integer as max_connections
