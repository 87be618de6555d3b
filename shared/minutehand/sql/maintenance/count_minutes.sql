-- Counts the next minutes for the history; returns whether more are over.
select minutehand.count_minutes(%(now)s) as more
