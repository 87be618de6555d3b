-- Makes stored checks of batches; returns their number.
select minutehand.check_batches(%(limit)s) as checks
