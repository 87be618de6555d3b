-- Returns the predecessors that a job waits for, with their states; null for one that no longer exists.
select id, state from minutehand.awaited_by(%(id)s)
