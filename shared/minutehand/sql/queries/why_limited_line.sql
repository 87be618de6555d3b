-- Counts the due jobs of a queue under a limit that are taken before a job: those with a higher priority, and those with the same
-- one that have been due longer. Reads up to a number of jobs: of the job's group or tenant if the limit is theirs, else of the
-- queue; `is_cut` is whether there may be more. A name that is null stands for any.
select count(*) filter (where s.matches) as ahead, count(*) >= %(limit)s as is_cut
  from (select l.matches
          from generate_series(%(priority)s::integer, 9) p (priority)
         cross join lateral (
               select (%(kind)s::text is null or j.kind = %(kind)s) as matches
                 from (select j.kind
                         from minutehand.jobs_live j
                        where %(of)s = 'group' and j.queue = %(queue)s and j.priority = p.priority and j.tenant = %(tenant)s
                          and j.group = %(group)s and j.id <> %(id)s
                          and j.visible <= case when p.priority = %(priority)s then %(visible)s else now() end
                        order by j.visible
                        limit %(limit)s) j
                union all
               select %(kind)s::text is null or j.kind = %(kind)s
                 from (select j.kind
                         from minutehand.jobs_live j
                        where %(of)s = 'tenant' and j.queue = %(queue)s and j.priority = p.priority and j.tenant = %(tenant)s
                          and j.tenant <> '' and j.id <> %(id)s
                          and j.visible <= case when p.priority = %(priority)s then %(visible)s else now() end
                        order by j.visible
                        limit %(limit)s) j
                union all
               select %(kind)s::text is null or j.kind = %(kind)s
                 from (select j.kind
                         from minutehand.jobs_live j
                        where %(of)s = 'queue' and j.queue = %(queue)s and j.priority = p.priority and j.id <> %(id)s
                          and j.visible <= case when p.priority = %(priority)s then %(visible)s else now() end
                        order by j.visible
                        limit %(limit)s) j) l
         limit %(limit)s) s
