-- Creates the partitions of the days ahead.
select minutehand.make_days_ahead() as made
