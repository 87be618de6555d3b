-- Offers one job, due or not, as a tick would if it were the only due job.
update minutehand.jobs_live
   set ack = gen_random_uuid(), offered = clock_timestamp(), visible = clock_timestamp() + interval '1 minute'
 where id = %(id)s
returning id, ack
