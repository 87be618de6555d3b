-- Record that the lake has all rows of a day: how many, which ones, and as of which snapshot.
insert into minutehand.archived_days (home, day, rows, identity, snapshot)
values (%(home)s, %(day)s::date, %(there)s, %(seen)s, coalesce(%(snapshot)s::pg_snapshot, pg_current_snapshot()))
    on conflict (home, day) do update set rows = excluded.rows, identity = excluded.identity, snapshot = excluded.snapshot
