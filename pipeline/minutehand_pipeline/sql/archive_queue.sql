-- Says what this queue is called in its lake; the first time, and unless it is only to be looked at, gives it a name.
with named as (
    insert into minutehand.archive_batches (home, number, lake)
    select %(home)s, -1, gen_random_uuid() where not %(dry_run)s
        on conflict (home, number) do nothing
    returning lake
)
select lake::text as queue from named
 union all
select lake::text from minutehand.archive_batches where home = %(home)s and number = -1
