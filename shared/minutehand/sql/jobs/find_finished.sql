-- Finds finished jobs that match, the latest first; with a mark, those that were not replayed with it.
select j.id
  from minutehand.jobs j
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
 order by j.deleted desc, j.id
 limit %(limit)s
