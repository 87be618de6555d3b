-- Whether other transactions have written jobs, schedules or controls, or have unblocked groups, and are still open. A lock is
-- released after the commit is visible.
select exists (
    select
      from pg_locks
     where locktype = 'relation' and mode = 'RowExclusiveLock' and granted and pid is distinct from pg_backend_pid()
       and database = (select oid from pg_database where datname = current_database())
       and relation in ('minutehand.jobs_live'::regclass, 'minutehand.schedules'::regclass, 'minutehand.controls'::regclass,
                        'minutehand.blocked_groups'::regclass)
) as found
