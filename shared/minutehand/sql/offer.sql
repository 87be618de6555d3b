-- Gives each due row that there is room for a fresh ack, and hides it for as long as the offer is good. Queues
-- take turns; in a queue the higher priority goes first, then the longest due. Rows that others hold are passed over.
with room as materialized (
    select greatest(0, %(budget)s - count(*))::integer as room
      from (select visible
              from minutehand.jobs_live
             where coalesce(offered, claimed) is not null and visible > coalesce(%(now)s, now())
             order by visible
             limit %(budget)s) busy
), due as materialized (
    select j.id, j.visible, row_number() over (partition by l.queue order by l.priority desc, j.visible) as turn
      from minutehand.lanes l
     cross join lateral (
           select id, visible
             from minutehand.jobs_live
            where queue = l.queue and priority = l.priority
              and visible >= l.floor and visible <= coalesce(%(now)s, now()) and attempts < max_attempts
            order by visible
            limit (select room from room)
              for update skip locked) j
), chosen as materialized (
    select id from due order by turn, visible limit (select room from room)
)
update minutehand.jobs_live
   set ack = gen_random_uuid(),
       prior = case when claimed is not null then coalesce(prior, ack) end,
       offered = coalesce(%(now)s, clock_timestamp()),
       visible = coalesce(%(now)s, clock_timestamp()) + %(ttl)s
 where id = any (array(select id from chosen))
returning id, ack, queue, kind
