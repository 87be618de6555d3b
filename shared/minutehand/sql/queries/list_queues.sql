-- Lists the queues that have or had jobs or settings.
select queue from minutehand.queues_seen() queue order by queue
