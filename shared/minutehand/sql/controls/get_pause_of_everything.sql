-- Returns the pause of all jobs, if there is one.
select until, reason, changed
  from minutehand.controls
 where (tenant, queue, kind, key, "group", per) = ('', '', '', '', '', '') and paused and (until is null or until > clock_timestamp())
