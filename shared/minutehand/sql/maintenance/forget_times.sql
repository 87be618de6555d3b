-- Deletes the times of kinds that no worker has measured for a week.
delete from minutehand.kind_times where measured < coalesce(%(now)s, now()) - interval '7 days'
