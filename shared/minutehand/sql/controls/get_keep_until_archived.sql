-- Returns whether retention waits for the archive.
select keep_until_archived from minutehand.settings
