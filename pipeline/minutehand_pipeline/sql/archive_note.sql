-- Writes a batch into the ledger, and what the lake now has of its day; number 0 says only which lake it is. Whoever
-- finds a batch in the lake that is not here may do it, and the same that was there by then stays.
with noted as (
    insert into minutehand.archive_batches (home, number, lake, day, rows, checksum, identity)
    values (%(home)s, %(number)s, %(lake)s::uuid, %(day)s::date, %(rows)s, %(checksum)s, %(identity)s)
        on conflict (home, number) do nothing
)
insert into minutehand.archived_days (home, day, rows, identity, snapshot)
select %(home)s, %(day)s::date, %(there)s, %(seen)s, %(snapshot)s::pg_snapshot where %(day)s::date is not null
    on conflict (home, day) do update
       set archived = clock_timestamp(), rows = excluded.rows, identity = excluded.identity, snapshot = excluded.snapshot
