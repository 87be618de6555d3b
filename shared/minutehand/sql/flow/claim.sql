-- Exchanges offered acks for claims. A duplicate or late event, or one for a replaced job, finds no such ack. After the withdrawal
-- of a later offer, a lapsed one has its ack again, but no offer.
-- A job that has expired since it was offered is not claimed: the next tick ends it.
-- If any limit is set, or the job has a group, a lapsed offer is void: another job may have taken its place.
-- The array repeats the ids for the planner: if its statistics say that the table is empty, it would join by a full scan. A subquery
-- hides their number from it. Otherwise a prepared statement would be planned for each claim.
-- minutehand.lapse() records the former attempt as lapsed if it has no outcome.
update minutehand.jobs_live j
   set ack = gen_random_uuid(), prior = null, lapsed = coalesce(j.claimed, j.lapsed), claimed = clock_timestamp(),
       attempts = j.attempts + 1, visible = clock_timestamp() + least(%(lease)s, j.timeout) + %(grace)s
  from unnest(%(ids)s::uuid[], %(acks)s::uuid[]) as o (id, ack)
 where j.id = any ((select %(ids)s::uuid[])::uuid[]) and j.id = o.id and j.ack = o.ack
   and j.offered is not null and (j.claimed is null or j.offered > j.claimed)
   and (j.expires is null or minutehand.expires_at(j.run_at, j.expires) > clock_timestamp() or j.attempts > 0)
   and (j.visible > clock_timestamp() or j.group is null and not exists (select from minutehand.controls where max_running is not null))
returning j.id, j.ack, j.queue, j.kind, j.key, j.group, j.payload, j.headers, j.priority, j.attempts, j.max_attempts, j.retry,
          j.timeout, j.enqueued, j.run_at, j.claimed, j.tenant, j.every, j.zone, j.nominal, j.schedule, j.batch, j.after,
          case when j.attempts = 1 and j.expires is not null then minutehand.expires_at(j.run_at, j.expires) - clock_timestamp() end as start_within,
          j.result as stored_result,
          case when j.group is not null then minutehand.order_of(j.queue, j.tenant, j.group) end as group_order,
          case when j.lapsed is not null then minutehand.lapse(j, j.attempts - 1, j.lapsed) end
