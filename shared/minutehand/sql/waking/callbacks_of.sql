-- Returns the callbacks of batches that have not ended. While a check of a batch is stored, returns its id and the time.
select id, visible from minutehand.callbacks_of(%(batches)s::uuid[])
