-- Whether a claim still holds, and why its job is to end.
select cancelling from minutehand.jobs_live where id = %(id)s and %(ack)s in (ack, prior)
