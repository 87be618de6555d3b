-- Takes back the offers of what is paused now, those that have lapsed too: nobody can claim them, however late. A lapsed
-- claim's ack is its own again.
update minutehand.jobs j
   set ack = case when j.claimed is not null then j.prior end, prior = null, offered = null,
       visible = least(j.visible, clock_timestamp())
 where j.deleted is null and coalesce(j.offered, j.claimed) is not null and j.offered is not null and j.ack is not null
   and (j.claimed is null or j.offered > j.claimed)
   and minutehand.bounds_job(row(%(tenant)s::text, %(queue)s::text, %(kind)s::text, %(key)s::text, 0)::minutehand.bound,
                             j.tenant, j.queue, j.kind, j.key)
returning j.id
