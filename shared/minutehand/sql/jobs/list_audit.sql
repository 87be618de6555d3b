-- Lists a page of the audit trail, the latest entry first.
select a.id, a.at, a.tenant, a.actor, a.verb, a.job, a.facts
  from minutehand.audit a
 where (%(job)s::uuid is null or a.job = %(job)s)
   and (%(actor)s::text is null or a.actor = %(actor)s)
   and (%(verb)s::text is null or a.verb = %(verb)s)
   and (%(before)s::uuid is null or a.id < %(before)s)
 order by a.id desc
 limit %(limit)s
