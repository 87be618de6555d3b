-- Records the tick in the dispatcher's row, and locks that row, so that ticks count the capacity one after the other. Waits
-- for workers that are taking jobs, and lets others wait until the transaction ends.
with started as materialized (
    update minutehand.dispatcher
       set since = ticked, ticked = coalesce(%(now)s, clock_timestamp()),
           -- The clock was set back, or a test did so: the next count reads all entries.
           busy_since = case when busy_since < coalesce(%(now)s, clock_timestamp()) - interval '6 seconds' then busy_since
                             else '-infinity' end
    returning ticked
)
select started.ticked, locked.count
  from started
 cross join lateral (
       select count(*)
         from (select number from minutehand.take_locks where started.ticked is not null order by number for no key update) l) locked
