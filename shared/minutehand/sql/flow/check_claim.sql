-- Returns a row if the claim still holds, with the reason if the job's cancellation was requested.
select cancelling from minutehand.jobs_live where id = %(id)s and %(ack)s in (ack, prior)
