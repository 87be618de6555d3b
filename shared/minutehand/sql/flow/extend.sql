-- Moves the end of a lease: the claim's own ack, and not yet offered to another.
update minutehand.jobs_live
   set visible = clock_timestamp() + %(lease)s
 where id = %(id)s and ack = %(ack)s
returning visible, cancelling
