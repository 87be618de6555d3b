-- Derives the floor of every lane from the table, and adds missing lanes. Locked lanes are left to the next sweep, so that
-- no tick waits.
with found as materialized (
    select queue, priority, least(min(visible), coalesce(%(now)s, now()) - interval '1 minute') as floor
      from minutehand.jobs
     where deleted is null
     group by queue, priority
), new as (
    insert into minutehand.lanes (queue, priority, floor)
    select queue, priority, floor from found f
     where not exists (select from minutehand.lanes l where l.queue = f.queue and l.priority = f.priority)
        on conflict (queue, priority) do nothing
), lower as materialized (
    select l.queue, l.priority, f.floor
      from minutehand.lanes l
      join found f on f.queue = l.queue and f.priority = l.priority and f.floor < l.floor
       for update of l skip locked
)
update minutehand.lanes l
   set floor = lower.floor
  from lower
 where l.queue = lower.queue and l.priority = lower.priority and lower.floor < l.floor
