-- Returns ids of open batches that are nested in a batch.
select id from minutehand.open_in(%(batch)s) id
