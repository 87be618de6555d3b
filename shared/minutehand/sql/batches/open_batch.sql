-- Opens a batch.
select minutehand.open_batch(%(on_complete)s::json, %(on_failure)s::json, %(tenant)s, %(name)s, %(parent)s) as id
