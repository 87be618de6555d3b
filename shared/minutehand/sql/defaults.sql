-- Every kind's defaults.
select kind, queue, priority, max_attempts, timeout, retry from minutehand.defaults order by kind
