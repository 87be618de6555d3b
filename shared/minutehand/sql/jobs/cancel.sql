-- Cancels jobs that do not run. An offer of one finds nothing to claim.
select id, queue, kind, key, attempts, max_attempts, tenant, batch, awaited from minutehand.cancel_jobs(%(ids)s, %(reason)s)
