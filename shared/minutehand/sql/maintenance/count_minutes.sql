-- Counts the minutes that are over for the history.
select minutehand.count_minutes(%(now)s)
