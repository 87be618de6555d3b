-- Takes the archivers' lock until the end of the transaction, and keeps that from being ended for its idleness; else
-- says who has it.
select pg_try_advisory_xact_lock(6074190484) as taken, set_config('idle_in_transaction_session_timeout', '0', true) as idle
