-- Counts the due jobs of a queue that are taken before a job, up to a limit: those with a higher priority, and those with
-- the same one that have been due longer.
select count(*) as ahead
  from (select from generate_series(%(priority)s::integer, 9) p (priority)
         cross join lateral (
               select from minutehand.jobs_live j
                where j.queue = %(queue)s and j.priority = p.priority
                  and j.visible <= case when p.priority = %(priority)s then %(visible)s else now() end
                  and j.id <> %(id)s
                order by j.visible
                limit %(limit)s) j
         limit %(limit)s) counted
