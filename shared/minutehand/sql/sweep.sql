-- Derives every lane's floor anew from the table itself, and finds the lanes that nobody announced.
insert into minutehand.lanes as l (queue, priority, floor)
select queue, priority, least(min(visible), coalesce(%(now)s, now()) - interval '1 minute')
  from minutehand.jobs
 where deleted is null
 group by queue, priority
    on conflict (queue, priority) do update set floor = excluded.floor where l.floor > excluded.floor
