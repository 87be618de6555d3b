-- Removes the weight of a tenant, and returns it.
delete from minutehand.shares where (turn, queue) = (%(tenant)s, %(queue)s) returning turn as tenant, queue, weight
