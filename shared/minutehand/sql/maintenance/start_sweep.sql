-- Records the start of a sweep, if the last one was ten minutes ago. One of several concurrent ticks gets a row.
update minutehand.dispatcher
   set swept = coalesce(%(now)s, clock_timestamp())
 where swept < coalesce(%(now)s, clock_timestamp()) - interval '10 minutes'
    -- The clock was set back, or SQL wrote it.
    or swept > coalesce(%(now)s, clock_timestamp()) + interval '10 minutes'
returning swept
