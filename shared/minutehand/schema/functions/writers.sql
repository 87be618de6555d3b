-- Transactions that write.

-- Returns the id of this transaction, and that of the oldest transaction that writes. In plpgsql, which takes the snapshot
-- after the id: a snapshot does not contain the latest open transaction, unless a later one has ended. Only ids below
-- this one are certain to be in it. `before` is the oldest id in a snapshot from before this one: whatever a transaction with
-- a lower id wrote is visible to every snapshot that is taken after this transaction has its id.
create or replace function minutehand.oldest_writer(out before xid8, out own xid8, out oldest xid8)
language plpgsql volatile
as $$
begin
    before := pg_snapshot_xmin(pg_current_snapshot());
    own := pg_current_xact_id();
    oldest := pg_snapshot_xmin(pg_current_snapshot());
end
$$;
