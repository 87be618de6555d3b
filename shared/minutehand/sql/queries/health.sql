-- Measures what slows a queue down: old snapshots, dead rows, and connections near the maximum. All roles see the number
-- of connections; only members of pg_read_all_stats see how long transactions of other roles have been open. The
-- transaction of a VACUUM does not count, since it holds no snapshot that matters.
select coalesce(max(clock_timestamp() - a.xact_start) filter (where a.backend_xmin is not null and a.pid <> pg_backend_pid()
                                                          and a.datname = current_database()
                                                          and a.backend_type is distinct from 'autovacuum worker'
                                                          and coalesce(a.query, '') !~* '^\s*(auto)?vacuum\y'),
                interval '0') as snapshot,
       (select sum(numbackends) from pg_stat_database) * 100 / current_setting('max_connections')::integer
           as connections_percent,
       (select coalesce(n_dead_tup / greatest(n_live_tup, 1000), 0)
          from pg_stat_all_tables
         where relid = 'minutehand.jobs_live'::regclass) as dead_rows_per_live
  from pg_stat_activity a
