-- Whether checks of batches are stored.
select exists (select from minutehand.batch_checks) as found
