-- Return this transaction's own number: every transaction that is writing now has a smaller one. A snapshot's xmax would
-- not do, because running transactions may have that number or a larger one.
select pg_current_xact_id()::text as mark
