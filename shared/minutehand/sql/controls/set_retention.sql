-- Replaces the retention of a queue.
with request as (
    select * from unnest(%(categories)s::text[], %(keeps)s::interval[]) as s (what, keep)
), deleted as (
    delete from minutehand.retention where queue = %(queue)s and what <> all (%(categories)s::text[])
)
insert into minutehand.retention (queue, what, keep)
select %(queue)s, what, keep from request
    on conflict (queue, what) do update set keep = excluded.keep
