-- Lists the queues that have or had jobs or settings, a page at a time.
select queue from minutehand.queues_seen() queue
 where %(after)s::text is null or queue > %(after)s
 order by queue
 limit %(limit)s
