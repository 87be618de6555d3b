-- Counts failed attempts by type of error in a window.
select queue, kind, coalesce(error ->> 'type', outcome) as error, count(*) as attempts, max(ended) as last
  from minutehand.attempts
 where ended >= %(since)s and ended < %(until)s and (error is not null or outcome = 'lapsed')
   and (%(queue)s::text is null or queue = %(queue)s)
   and (%(kind)s::text is null or kind = %(kind)s)
 group by 1, 2, 3
 order by attempts desc, 1, 2, 3
