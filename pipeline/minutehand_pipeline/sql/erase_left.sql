-- Says how many rows of jobs, or of tenants, the database itself still has.
select (select count(*) from minutehand.jobs where id = any (%(jobs)s::uuid[]) or tenant = any (%(tenants)s::text[])) as jobs,
       (select count(*) from minutehand.attempts where job = any (%(jobs)s::uuid[]) or tenant = any (%(tenants)s::text[]))
           as attempts,
       (select count(*) from minutehand.events where job = any (%(jobs)s::uuid[]) or tenant = any (%(tenants)s::text[]))
           as events
