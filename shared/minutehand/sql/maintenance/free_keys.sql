-- Deletes reservations of keys whose period is over. Locked ones are skipped, so that no tick waits for a transaction
-- that takes such a key.
with over as materialized (
    select queue, key, tenant from minutehand.uniques where until <= coalesce(%(now)s, now()) for update skip locked
)
delete from minutehand.uniques u
 using over
 where u.queue = over.queue and u.key = over.key and u.tenant = over.tenant
