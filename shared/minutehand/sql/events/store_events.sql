-- Inserts events into the table.
select minutehand.keep_events(%(events)s::jsonb)
