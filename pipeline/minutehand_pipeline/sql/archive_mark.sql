-- Says a transaction's number, this one's own, than which every one that writes at this moment has a smaller: a snapshot's
-- xmax would not do, since transactions that run may have that number and later ones.
select pg_current_xact_id()::text as mark
