-- Return the process that holds the archive lock, and since when.
select l.pid, to_char(a.xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') as since
  from pg_locks l
  left join pg_stat_activity a using (pid)
 where l.locktype = 'advisory' and (l.classid::bigint << 32 | l.objid::bigint) = 6074190484 and l.granted
   and l.database = (select oid from pg_database where datname = current_database())
