-- Records the mode of this tick. Returns whether the mode has changed in the last 30 minutes: invocations of the mode before, which last up
-- to 15 minutes and may begin until the deploy has ended, request no wake-ups of mode sleep.
with changed as (
    update minutehand.dispatcher
       set mode = %(mode)s::text, mode_since = case when mode is null then '-infinity' else clock_timestamp() end
     where mode is distinct from %(mode)s::text
    returning mode_since
)
select coalesce((select mode_since from changed), d.mode_since) > clock_timestamp() - interval '30 minutes' as changed
  from minutehand.dispatcher d
