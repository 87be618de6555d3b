-- Removes the staging tables of loads that were killed.
select run from minutehand.end_dead_loads() run
