-- Extends a lease, if the job has not been offered to another worker.
update minutehand.jobs_live
   set visible = clock_timestamp() + %(lease)s
 where id = %(id)s and ack = %(ack)s
returning visible, cancelling
