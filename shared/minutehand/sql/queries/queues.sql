-- The queues that have or had jobs, or of which something is set.
select queue from minutehand.queues_seen() queue order by queue
