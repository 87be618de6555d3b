-- Returns a row if the claim can still be finished, with the reason if the job's cancellation was requested. If any limit
-- is set, or the job has a group, a lapsed claim is void: another job may have taken its place.
select cancelling,
       visible <= clock_timestamp()
       and ("group" is not null or exists (select from minutehand.controls where max_running is not null)) as void
  from minutehand.jobs_live
 where id = %(id)s and %(ack)s in (ack, prior)
