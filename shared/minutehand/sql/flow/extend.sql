-- Extends leases, each if the job has not been offered to another worker. If any limit is set, or the job has a group, a lapsed claim is void:
-- another job may have taken its place.
update minutehand.jobs_live j
   set visible = clock_timestamp() + e.lease
  from unnest(%(ids)s::uuid[], %(acks)s::uuid[], %(leases)s::interval[]) as e (id, ack, lease)
 -- The subquery is explained in finish.sql.
 where j.id = any ((select %(ids)s::uuid[])::uuid[]) and j.id = e.id and j.ack = e.ack
   and (j.visible > clock_timestamp() or j.group is null and not exists (select from minutehand.controls where max_running is not null))
returning j.id, j.visible, j.cancelling
