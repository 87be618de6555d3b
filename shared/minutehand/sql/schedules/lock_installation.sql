-- Serializes installations of schedules, and of limits, until the end of the transaction.
select pg_advisory_xact_lock(6074190483)
