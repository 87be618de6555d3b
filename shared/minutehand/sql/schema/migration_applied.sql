-- Notes a migration.
insert into minutehand.migrations (version, name, checksum) values (%(version)s, %(name)s, %(checksum)s)
