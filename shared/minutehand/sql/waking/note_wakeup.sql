-- Notes why the wake-up of the next tick was not created, or that it was.
update minutehand.dispatcher
   set wakeup_failed = case when %(error)s::text is not null then clock_timestamp() end, wakeup_error = left(%(error)s::text, 1000)
 where %(error)s::text is not null or wakeup_failed is not null
