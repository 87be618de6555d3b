-- Keeps events in the table.
select minutehand.keep_events(%(told)s::jsonb)
