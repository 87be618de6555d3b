-- Lists the finished attempts at a job, oldest first.
select job, attempt, started, ended, outcome, worker, request, version, memory_mb, error, result
  from minutehand.attempts
 where job = %(job)s
 order by ended, attempt
