-- Lists the defaults of kinds, then those of queues, which have no kind.
select kind, queue, priority, max_attempts, timeout, retry, on_dead from minutehand.defaults
union all
select null, queue, priority, max_attempts, timeout, retry, on_dead from minutehand.queue_defaults
 order by kind, queue
