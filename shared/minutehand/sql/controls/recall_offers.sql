-- Recalls the offers of paused jobs, lapsed ones included, so that none can be claimed. A lapsed claim gets its ack back.
update minutehand.jobs j
   set ack = case when j.claimed is not null then j.prior end, prior = null, offered = null,
       visible = least(j.visible, clock_timestamp())
 where j.deleted is null and coalesce(j.offered, j.claimed) is not null and j.offered is not null and j.ack is not null
   and (j.claimed is null or j.offered > j.claimed)
   and minutehand.bounds_job(row(%(tenant)s::text, %(queue)s::text, %(kind)s::text, %(key)s::text, 0)::minutehand.bound,
                             j.tenant, j.queue, j.kind, j.key)
returning j.id
