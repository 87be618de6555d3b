-- The transaction of this database that has kept vacuum from its work for longest. Of other roles' sessions only a
-- member of pg_read_all_stats sees it; what was prepared for a second phase, everybody does. A VACUUM's own
-- transaction holds none up, however long it takes.
select pg_has_role('pg_read_all_stats', 'usage') as sees_all, o.pid, o.name, o.began, o.asked, clock_timestamp() - o.began as age
  from (select) here
  left join lateral (
       select pid, application_name as name, xact_start as began, query_start as asked
         from pg_stat_activity
        where backend_xmin is not null and pid <> pg_backend_pid() and datname = current_database()
           and backend_type is distinct from 'autovacuum worker' and coalesce(query, '') !~* '^\s*(auto)?vacuum\y'
        union all
       select null, 'prepared transaction ' || gid, prepared, prepared
         from pg_prepared_xacts
        where database = current_database()
        order by began
        limit 1) o on true
