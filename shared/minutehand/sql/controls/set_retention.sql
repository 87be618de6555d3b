-- Says all of a queue's retention at once, and forgets what was said before and is not any more.
with said as (
    select * from unnest(%(whats)s::text[], %(keeps)s::interval[]) as s (what, keep)
), gone as (
    delete from minutehand.retention where queue = %(queue)s and what <> all (%(whats)s::text[])
)
insert into minutehand.retention (queue, what, keep)
select %(queue)s, what, keep from said
    on conflict (queue, what) do update set keep = excluded.keep
