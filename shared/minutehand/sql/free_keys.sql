-- Forgets whose period is over: their keys are free already.
delete from minutehand.uniques where until <= coalesce(%(now)s, now())
