-- Takes back offers that nobody was told of: the jobs are due as before, a lapsed claim's ack its own again. Whoever
-- was told all the same finds no such offer.
update minutehand.jobs_live j
   set ack = j.prior, prior = null, offered = null, visible = clock_timestamp()
  from unnest(%(ids)s::uuid[], %(acks)s::uuid[]) as o (id, ack)
 where j.id = o.id and j.ack = o.ack and (j.claimed is null or j.offered > j.claimed)
returning j.id
