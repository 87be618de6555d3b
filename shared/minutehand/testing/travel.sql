-- Moves the clock to a time.
update minutehand_testing.clock
   set travelled = make_interval(secs => extract(epoch from %(to)s - pg_catalog.clock_timestamp())::float8)
