-- Returns who made the latest pause with a scope, among the last 1000 changes.
select a.actor
  from (select id, actor, verb, facts from minutehand.audit order by id desc limit 1000) a
 where a.verb = 'pause' and coalesce(a.facts ->> 'queue', '') = %(queue)s and coalesce(a.facts ->> 'kind', '') = %(kind)s
   and coalesce(a.facts ->> 'key', '') = %(key)s and coalesce(a.facts ->> 'tenant', '') = %(tenant)s and coalesce(a.facts ->> 'group', '') = %(group)s
 order by a.id desc
 limit 1
