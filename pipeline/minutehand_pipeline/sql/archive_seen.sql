-- Says that all rows that a day has are in the lake: how many, and which.
insert into minutehand.archived_days (home, day, rows, identity)
values (%(home)s, %(day)s::date, %(there)s, %(seen)s)
    on conflict (home, day) do update set rows = excluded.rows, identity = excluded.identity
