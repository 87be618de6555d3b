-- Notes the tick on the dispatcher's row and holds that row, so that capacity is counted by one tick at a time.
update minutehand.dispatcher set since = ticked, ticked = coalesce(%(now)s, clock_timestamp()) returning ticked
