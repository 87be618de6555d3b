-- Return how many rows of some jobs or tenants are still in the database.
select (select count(*) from minutehand.jobs where id = any (%(jobs)s::uuid[]) or tenant = any (%(tenants)s::text[])) as jobs,
       (select count(*) from minutehand.attempts where job = any (%(jobs)s::uuid[]) or tenant = any (%(tenants)s::text[]))
           as attempts,
       (select count(*) from minutehand.events where job = any (%(jobs)s::uuid[]) or tenant = any (%(tenants)s::text[]))
           as events
