-- Deletes a schedule; its jobs and its firings stay.
select true as deleted where minutehand.delete_schedule(%(name)s)
