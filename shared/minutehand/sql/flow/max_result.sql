-- Returns the maximum size of a result in bytes.
select max_result from minutehand.settings
