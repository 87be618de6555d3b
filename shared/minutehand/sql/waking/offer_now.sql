-- Offers jobs that were enqueued, and returns whether the dispatcher must be invoked for others.
select id, ack, queue, kind, tenant, wake from minutehand.offer_now(%(ids)s::uuid[], %(next)s::timestamptz, %(others)s)
