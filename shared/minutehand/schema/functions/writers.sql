-- Transactions that write.

-- Returns the id of this transaction, and that of the oldest transaction that writes. In plpgsql, which takes the snapshot
-- after the id: a snapshot does not contain the latest open transaction, unless a later one has ended. Only ids below
-- this one are certain to be in it.
create or replace function minutehand.oldest_writer(out own xid8, out oldest xid8)
language plpgsql volatile
as $$
begin
    own := pg_current_xact_id();
    oldest := pg_snapshot_xmin(pg_current_snapshot());
end
$$;
