-- Deletes a chunk of the jobs that finished before a time.
select id from minutehand.delete_finished(%(before)s, %(queue)s, %(kind)s, %(states)s, %(limit)s)
