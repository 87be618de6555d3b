-- A page of the audit trail, the latest first.
select a.id, a.at, a.tenant, a.who, a.verb, a.job, a.facts
  from minutehand.audit a
 where (%(job)s::uuid is null or a.job = %(job)s)
   and (%(who)s::text is null or a.who = %(who)s)
   and (%(verb)s::text is null or a.verb = %(verb)s)
   and (%(before)s::uuid is null or a.id < %(before)s)
 order by a.id desc
 limit %(most)s
