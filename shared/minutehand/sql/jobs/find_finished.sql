-- Finds finished jobs that match, the latest first; with a mark, those that were not replayed with it, and for whose key no later
-- job was: an older payload must not follow it.
with replayed as materialized (
    select r.queue, r.key, r.tenant, max(r.deleted) as latest
      from minutehand.audit a
      join minutehand.jobs r on r.id = a.job and r.deleted is not null and r.key is not null
     where %(mark)s::text is not null and a.job is not null and a.verb = 'replay' and a.facts ->> 'mark' = %(mark)s
     group by r.queue, r.key, r.tenant
)
select j.id
  from minutehand.jobs j
  left join replayed p on p.queue = j.queue and p.key = j.key and p.tenant = j.tenant
 where j.deleted is not null
   and (%(since)s::timestamptz is null or j.deleted >= %(since)s)
   and (%(before)s::timestamptz is null or j.deleted < %(before)s)
   and (%(queue)s::text is null or j.queue = %(queue)s)
   and (%(kind)s::text is null or j.kind = %(kind)s)
   and (%(key)s::text is null or j.key = %(key)s)
   and (%(group)s::text is null or j.group = %(group)s)
   and minutehand.state(j) = any (%(states)s::text[])
   and (%(older_than)s::text is null
        or minutehand.version_numbers(j.version) < minutehand.version_numbers(%(older_than)s))
   and (%(other_than)s::text is null or j.version is distinct from %(other_than)s)
   and j.id not in (select a.job
                      from minutehand.audit a
                     where %(mark)s::text is not null and a.job is not null and a.verb = 'replay'
                       and a.facts ->> 'mark' = %(mark)s)
   and (p.latest is null or j.deleted > p.latest)
 order by j.deleted desc, j.id
 limit %(limit)s
