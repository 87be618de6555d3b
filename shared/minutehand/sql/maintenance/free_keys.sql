-- Deletes reservations of keys whose period is over, and the marks of superseded jobs that have ended. Locked reservations
-- are skipped, so that no tick waits for a transaction that takes such a key.
with ended as (
    delete from minutehand.superseded
     where job = any (array(select s.job
                              from minutehand.superseded s
                             where not exists (select from minutehand.jobs_live j where j.id = s.job)
                             limit 100000))
), over as materialized (
    select queue, key, tenant from minutehand.uniques where until <= coalesce(%(now)s, now()) for update skip locked
)
delete from minutehand.uniques u
 using over
 where u.queue = over.queue and u.key = over.key and u.tenant = over.tenant
