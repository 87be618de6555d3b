-- Says whose data was erased from the lake.
select what, value from minutehand.erased
