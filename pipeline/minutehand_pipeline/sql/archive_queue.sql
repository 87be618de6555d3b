-- Return this queue's name in its lake; create the name on first use, except in a dry run.
with named as (
    insert into minutehand.archive_batches (home, number, lake)
    select %(home)s, -1, gen_random_uuid() where not %(dry_run)s
        on conflict (home, number) do nothing
    returning lake
)
select lake::text as queue from named
 union all
select lake::text from minutehand.archive_batches where home = %(home)s and number = -1
