-- Withdraws offers whose invitation was refused: the jobs are due again, and a lapsed claim gets its ack back. A worker
-- that was invited anyway finds no such offer.
update minutehand.jobs_live j
   set ack = j.prior, prior = null, offered = null, visible = clock_timestamp()
  from unnest(%(ids)s::uuid[], %(acks)s::uuid[]) as o (id, ack)
 where j.id = any (%(ids)s::uuid[]) and j.id = o.id and j.ack = o.ack and (j.claimed is null or j.offered > j.claimed)
returning j.id
