-- The files of functions and roles that were applied here.
select name, checksum, applied from minutehand.schema_files order by name
