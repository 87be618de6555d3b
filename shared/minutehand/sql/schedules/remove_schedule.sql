-- Removes a schedule; its jobs and its firings stay.
select true as removed where minutehand.remove_schedule(%(name)s)
