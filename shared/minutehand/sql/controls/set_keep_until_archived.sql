-- Sets whether retention waits for the archive.
update minutehand.settings set keep_until_archived = %(keep)s
