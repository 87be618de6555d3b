-- Deletes old steps of the history.
select minutehand.prune_history(%(now)s)
