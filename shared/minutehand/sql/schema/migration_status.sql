-- The migrations that were applied here.
select version, name, checksum, applied from minutehand.migrations order by version
