-- The names of the session's schedules, with what tells whether they were installed from a source and have changed since.
select name, source, hash from minutehand.schedules where tenant = minutehand.current_tenant()
