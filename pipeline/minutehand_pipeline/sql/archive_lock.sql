-- Try to take the archive lock until the end of the transaction, and protect that transaction from the idle timeout.
select pg_try_advisory_xact_lock(6074190484) as taken, set_config('idle_in_transaction_session_timeout', '0', true) as idle
