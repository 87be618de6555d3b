-- Drops a day of which the lake has every row; says what became of it.
select minutehand.drop_archived(%(home)s, %(day)s::date) as outcome
