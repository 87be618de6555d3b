-- Adds to a job what its handler returned or raised after the transaction that completed it. Fenced by the ack and the
-- time of the end. A stored result is not replaced. Once an archive has begun to copy the day of the end, nothing is added: the
-- lake would lack it, and it would be lost with the day. An archive waits for transactions that began before the day's end.
with today as materialized (
    select now() < date_trunc('day', %(ended)s::timestamptz, 'UTC') + interval '24 hours' as yes
), settled as (
    update minutehand.jobs
       set result = coalesce(result, %(result)s::minutehand.result), error = coalesce(%(error)s::minutehand.error, error)
     where deleted = %(ended)s and id = %(id)s and %(ack)s in (ack, prior)
       and (select case when yes then true else minutehand.may_settle('jobs_done', %(ended)s) end from today)
    returning id, attempts, deleted
), history as (
    update minutehand.attempts a
       set error = %(error)s::minutehand.error
      from settled s
     where a.job = s.id and a.ended = s.deleted and a.attempt = s.attempts and %(error)s::minutehand.error is not null
       and (select case when yes then true else minutehand.may_settle('attempts', %(ended)s) end from today)
)
select id from settled
