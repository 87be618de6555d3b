-- Enqueues the jobs of the staging table.
select ordinal, id, outcome, visible from minutehand.enqueue_incoming(%(load)s, %(on_conflict)s) order by ordinal
