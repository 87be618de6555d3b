-- Enqueues what a COPY has brought, by the same rules.
select ordinal, id, outcome, visible from minutehand.enqueue_incoming(%(load)s, %(on_conflict)s) order by ordinal
