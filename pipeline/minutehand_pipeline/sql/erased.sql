-- Return the subjects that were erased from the lake.
select what, value from minutehand.erased
