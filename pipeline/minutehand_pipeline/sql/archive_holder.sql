-- Return a session or prepared transaction that may still commit rows of a day which ended at %(ends)s: its transaction
-- began before that. A role that cannot see when others began checks whether all transactions open at the mark ended.
select coalesce(
    (select format('a prepared transaction, %%s', gid) from pg_prepared_xacts where database = current_database() limit 1),
    (select format('process %%s, in a transaction since %%s', pid, to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"'))
       from pg_stat_activity
      where datname = current_database() and xact_start < %(ends)s and pid <> pg_backend_pid()
         and backend_type not in ('autovacuum worker', 'walsender', 'parallel worker')
      order by xact_start limit 1),
    (select 'a transaction that was there when the archive began'
      where not pg_has_role('pg_read_all_stats', 'usage') and pg_snapshot_xmin(pg_current_snapshot()) <= %(mark)s::xid8)
) as holder
