-- One migration at a time, until the end of the transaction. The number says `minutehand` to nobody but us.
select pg_advisory_xact_lock(6074190482)
