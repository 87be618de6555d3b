-- Withdraws offers whose invitation was refused: the jobs are due again, and a lapsed claim gets its ack back. A worker
-- that was invited anyway finds no such offer. A lapsed offer keeps its end. With a later end, a tick that began
-- before it would take a job with a claim for a running one, and could start the next job of its group.
with refused as (
    update minutehand.jobs_live j
       set ack = j.prior, prior = null, offered = null, visible = least(j.visible, clock_timestamp())
      from unnest(%(ids)s::uuid[], %(acks)s::uuid[]) as o (id, ack)
     where j.id = any (%(ids)s::uuid[]) and j.id = o.id and j.ack = o.ack and (j.claimed is null or j.offered > j.claimed)
    returning j.id, j.tenant, j.visible
), noted as (
    -- The snapshot of this statement has the offers as they were.
    select minutehand.note_unclaimed(array_agg(r.id), array_agg(r.tenant), array_agg(j.offered), array_agg(r.visible), array_agg('refused'::text))
      from refused r join minutehand.jobs_live j on j.id = r.id
     where j.id = any (%(ids)s::uuid[])
    having count(*) > 0
)
select id, (select count(*) from noted) as noted from refused
