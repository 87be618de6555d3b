-- The oldest transaction of this database, which prevents vacuum from removing rows. Only a member of
-- pg_read_all_stats sees other roles' sessions; every role sees prepared transactions. VACUUM's own transaction
-- does not count, because it prevents nothing.
select pg_has_role('pg_read_all_stats', 'usage') as sees_all, o.pid, o.name, o.began, o.statement, clock_timestamp() - o.began as age
  from (select) here
  left join lateral (
       select pid, application_name as name, xact_start as began, query_start as statement
         from pg_stat_activity
        where backend_xmin is not null and pid <> pg_backend_pid() and datname = current_database()
           and backend_type is distinct from 'autovacuum worker' and coalesce(query, '') !~* '^\s*(auto)?vacuum\y'
        union all
       select null, 'prepared transaction ' || gid, prepared, prepared
         from pg_prepared_xacts
        where database = current_database()
        order by began
        limit 1) o on true
