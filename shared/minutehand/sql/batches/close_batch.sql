-- Closes a batch; `closed` is false if it was closed before.
select minutehand.close_batch(%(id)s) as closed
