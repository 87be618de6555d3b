-- Counts the jobs of each queue by state, finished ones since a time, and returns the time at which the oldest
-- became due or finished.
select j.queue, case when %(by_kind)s then j.kind end as kind, j.state, count(*) as jobs, min(j.moment) as since
  from (select l.queue, l.kind, minutehand.state(l) as state, l.visible as moment
          from minutehand.jobs l
         where l.deleted is null
         union all
        select d.queue, d.kind, minutehand.state(d), d.deleted
          from minutehand.jobs d
         where d.deleted is not null and d.deleted >= coalesce(%(since)s::timestamptz, '-infinity')) j
 where (%(queue)s::text is null or j.queue = %(queue)s)
   and (%(kind)s::text is null or j.kind = %(kind)s)
 group by 1, 2, 3
 order by 1, 2, 3
