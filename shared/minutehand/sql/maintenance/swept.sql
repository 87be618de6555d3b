-- Notes that a sweep is being made, for one of those who find that ten minutes have passed since the last.
update minutehand.dispatcher
   set swept = coalesce(%(now)s, clock_timestamp())
 where swept < coalesce(%(now)s, clock_timestamp()) - interval '10 minutes'
returning swept
