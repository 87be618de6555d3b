-- Sets the weight of a tenant, in a queue or with '' in those for which it has no other.
insert into minutehand.shares as s (turn, queue, weight)
values (%(tenant)s, %(queue)s, %(weight)s)
    on conflict (turn, queue) do update set weight = excluded.weight
returning turn as tenant, queue, weight
