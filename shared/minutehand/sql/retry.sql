-- Brings dead and cancelled jobs back, due at once and with all their attempts; not where the key has a new job.
update minutehand.jobs j
   set deleted = null, failed = false, cancelled = false, ack = null, prior = null, offered = null, claimed = null,
       attempts = 0, visible = clock_timestamp()
 where j.deleted is not null and j.failed and j.id = any (%(ids)s)
   and not exists (select from minutehand.jobs_live o where o.tenant = j.tenant and o.queue = j.queue and o.key = j.key and o.claimed is null)
returning j.id
