-- Counts the due jobs of each queue that have been due for a period, among a number of the latest unfinished jobs of the session's
-- tenant.
select j.queue, count(*) as due, max(now() - j.visible) as late
  from (select l.queue, l.visible
          from minutehand.jobs l
         where l.deleted is null
         order by l.id desc
         limit %(unfinished)s) j
 where j.visible <= now() - %(period)s::interval
 group by 1
 order by 3 desc
 limit 50
