-- Facts about the server, which every role may read.
select current_setting('server_version_num')::integer as version, current_setting('server_version') as named,
       pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only,
       current_user::text as login, me.rolsuper as superuser,
       (select count(*) from pg_prepared_statements) as prepared,
       least(current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
                 - coalesce(current_setting('reserved_connections', true), '0')::bigint
                 - (select sum(numbackends) from pg_stat_database),
             nullif(here.datconnlimit, -1) - totals.numbackends,
             nullif(me.rolconnlimit, -1) - (select count(*) from pg_stat_activity where usesysid = me.oid))::bigint as free,
       current_setting('max_connections')::integer as most, holder.name as holder, holder.held,
       current_setting('autovacuum')::boolean and current_setting('track_counts')::boolean as autovacuum
  from pg_roles me, pg_database here join pg_stat_database totals on totals.datid = here.oid
  -- The program with the most connections; the login, if the role may not see the program.
  left join lateral (
       select coalesce(nullif(a.application_name, ''), a.usename) as name, count(*) as held
         from pg_stat_activity a
        where a.datid is not null
        group by 1
        order by 2 desc, 1
        limit 1) holder on true
 where me.rolname = current_user and here.datname = current_database()
