-- Returns the state of a job's group: how many of its jobs are offered or running, what holds it back, and if it runs in order, which
-- job comes first.
select * from minutehand.group_state(%(queue)s, %(tenant)s, %(group)s, clock_timestamp())
