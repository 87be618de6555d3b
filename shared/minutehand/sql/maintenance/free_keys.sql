-- Forgets whose period is over: their keys are free already. One that somebody takes at this moment, in a transaction
-- of however long, is left to them: no tick waits for it.
with over as materialized (
    select queue, key, tenant from minutehand.uniques where until <= coalesce(%(now)s, now()) for update skip locked
)
delete from minutehand.uniques u
 using over
 where u.queue = over.queue and u.key = over.key and u.tenant = over.tenant
