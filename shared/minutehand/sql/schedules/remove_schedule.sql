-- Removes a schedule; its jobs and its firings stay.
delete from minutehand.schedules where tenant = minutehand.current_tenant() and name = %(name)s returning name
