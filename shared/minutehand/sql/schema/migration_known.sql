-- Whether this database was ever migrated, and whether it records files of functions, which pre-release schemas lack.
select to_regclass('minutehand.migrations') is not null as migrations,
       to_regclass('minutehand.schema_files') is not null as files
