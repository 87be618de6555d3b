-- Record a batch, and what the lake now has of its day; number 0 only records which lake it is. A run that finds a batch
-- in the lake but not here records it late, with the state at that time.
with noted as (
    insert into minutehand.archive_batches (home, number, lake, day, rows, checksum, identity)
    values (%(home)s, %(number)s, %(lake)s::uuid, %(day)s::date, %(rows)s, %(checksum)s, %(identity)s)
        on conflict (home, number) do nothing
)
insert into minutehand.archived_days (home, day, rows, identity, snapshot)
select %(home)s, %(day)s::date, %(there)s, %(seen)s, %(snapshot)s::pg_snapshot where %(day)s::date is not null
    on conflict (home, day) do update
       set archived = clock_timestamp(), rows = excluded.rows, identity = excluded.identity, snapshot = excluded.snapshot
