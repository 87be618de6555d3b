-- Adds to a job what its handler returned or raised after the transaction that completed it. Fenced by the ack and the
-- time of the end. A stored result is not replaced.
with settled as (
    update minutehand.jobs
       set result = coalesce(result, %(result)s::minutehand.result), error = coalesce(%(error)s::minutehand.error, error)
     where deleted = %(ended)s and id = %(id)s and %(ack)s in (ack, prior)
    returning id, attempts, deleted
), history as (
    update minutehand.attempts a
       set error = %(error)s::minutehand.error
      from settled s
     where a.job = s.id and a.ended = s.deleted and a.attempt = s.attempts and %(error)s::minutehand.error is not null
)
select id from settled
