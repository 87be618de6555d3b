-- Replaces a schedule's payload with a re-encrypted one, unless it has changed since.
select true as replaced where minutehand.replace_schedule_payload(%(tenant)s, %(schedule)s, %(former)s::jsonb, %(payload)s::jsonb)
