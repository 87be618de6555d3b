-- Retries dead, expired and cancelled jobs, each after its delay and with all its attempts; not if another unfinished job has
-- the key, or if the personal payload was erased. `expires` counts from the new moment.
update minutehand.jobs j
   set deleted = null, failed = false, cancelled = false, cancelling = null,
       -- A dead job has created its next occurrence. After a cancelled one, a later job of the key decides whether it recurs.
       every = case when j.cancelled and not exists (select from minutehand.jobs o
                                                      where o.deleted is not null and o.tenant = j.tenant and o.queue = j.queue
                                                        and o.key = j.key and o.enqueued > j.enqueued)
                    then j.every end,
       ack = null, prior = null, offered = null,
       claimed = null, attempts = 0, visible = clock_timestamp() + given.delay,
       run_at = case when j.expires is null then j.run_at else clock_timestamp() + given.delay end
  from unnest(%(ids)s::uuid[], %(delays)s::interval[]) as given (id, delay)
 where j.deleted is not null and j.failed and j.id = given.id and j.id = any (%(ids)s)
   and not (j.personal and j.payload::text = 'null')
   and not exists (select from minutehand.jobs_live o where o.tenant = j.tenant and o.queue = j.queue and o.key = j.key and o.claimed is null)
   and not exists (select from minutehand.jobs_live o where o.tenant = j.tenant and o.queue = j.queue and o.key = j.key and o.claimed is not null)
returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant,
          case when j.key is not null then minutehand.regain_key(j.id, j.tenant, j.queue, j.key) end
