-- Notes why the alarm of the next tick was not created, or that it was.
update minutehand.dispatcher
   set alarm_failed = case when %(error)s::text is not null then clock_timestamp() end, alarm_error = left(%(error)s::text, 1000)
 where %(error)s::text is not null or alarm_failed is not null
