-- Lists the latest stored events, newest first.
select id, at, tenant, name, job, queue, kind, facts
  from minutehand.events
 where at >= coalesce(%(since)s::timestamptz, '-infinity')
   and (%(names)s::text[] is null or name = any (%(names)s::text[]))
   and (%(queue)s::text is null or queue = %(queue)s::text)
   and (%(kind)s::text is null or kind = %(kind)s::text)
   and (%(job)s::uuid is null or job = %(job)s::uuid)
 order by at desc, id desc
 limit %(limit)s
