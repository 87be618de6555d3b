-- Records the tick in the dispatcher's row, and locks that row, so that ticks count the capacity one after the other.
update minutehand.dispatcher set since = ticked, ticked = coalesce(%(now)s, clock_timestamp()) returning ticked
