-- Lists the weights of tenants, a page at a time.
select turn as tenant, queue, weight
  from minutehand.shares
 where %(after)s::text[] is null or array[turn, queue]::text[] > %(after)s
 order by turn, queue
 limit %(limit)s
