-- Returns the time by the database's clock, and whether the database accepts writes.
select clock_timestamp() as now, pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only
