-- Deletes a chunk of the batches that ended long ago.
select minutehand.delete_batches(coalesce(%(now)s, now()) - interval '90 days', 10000) as batches
