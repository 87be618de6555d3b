-- Extends a lease, if the job has not been offered to another worker. If any limit is set, a lapsed claim is void: another
-- job may have taken its place.
update minutehand.jobs_live
   set visible = clock_timestamp() + %(lease)s
 where id = %(id)s and ack = %(ack)s
   and (visible > clock_timestamp() or not exists (select from minutehand.controls where max_running is not null))
returning visible, cancelling
