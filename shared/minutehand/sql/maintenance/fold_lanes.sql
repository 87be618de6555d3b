-- Moves recorded changes into the lanes; returns whether a sweep was requested. Lanes are written in order, so that
-- concurrent ticks do not deadlock.
with taken as materialized (
    delete from minutehand.lane_changes
     where ctid = any (array(select ctid from minutehand.lane_changes limit 10000 for update skip locked))
    returning queue, priority, visible, shared, grouped, mixed
), folded as (
    insert into minutehand.lanes as l (queue, priority, floor, shared, grouped, mixed)
    select queue, priority, min(visible), bool_or(shared), bool_or(grouped), bool_or(mixed)
      from taken
     where queue is not null
     group by queue, priority
     order by queue, priority
        on conflict (queue, priority) do update
       set floor = least(l.floor, excluded.floor), shared = l.shared or excluded.shared, grouped = l.grouped or excluded.grouped,
           mixed = l.mixed or excluded.mixed, idle = null, emptied = null
)
select exists (select from taken where queue is null) as sweep_requested
