-- Drop a day if the lake has every row of it; return the outcome.
select minutehand.drop_archived(%(home)s, %(day)s::date) as outcome
