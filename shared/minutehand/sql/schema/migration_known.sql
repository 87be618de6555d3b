-- Whether this database has ever been migrated.
select to_regclass('minutehand.migrations') is not null as known
