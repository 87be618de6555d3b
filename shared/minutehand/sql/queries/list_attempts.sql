-- Lists the finished attempts at a job, oldest first.
select job, attempt, started, ended, outcome, worker, request, version, memory_mb, error, result
  from minutehand.attempts
 where job = %(job)s and (%(after)s::timestamptz is null or ended > %(after)s)
 order by ended, attempt
 limit %(limit)s
