-- Counting: sessions that start jobs under limits, or of groups, count them one after the other.

-- Locks the queues of limits, and of lanes with groups, until the transaction ends; '' stands for the limits of all queues. These
-- rows and not those of the limits, because otherwise ticks would wait for a session that changes a limit.
-- A session that does not see what others commit changes the rows: then another such one, whose snapshot is older, does not count in
-- it, but gets SQLSTATE 40001 and starts again.
create or replace function minutehand.lock_counts(lanes minutehand.due_lane[], only_queue text) returns void
language plpgsql volatile
as $$
declare
    counted text[] := array(
        select c.queue::text from minutehand.controls c where c.limited and (only_queue is null or c.queue in ('', only_queue))
         union
        select l.queue from unnest(lanes) l where l.grouped);
begin
    insert into minutehand.counted_queues (queue)
    select n.queue
      from unnest(counted) n (queue)
     where not exists (select from minutehand.counted_queues q where q.queue = n.queue)
     order by n.queue
        on conflict do nothing;
    perform from minutehand.counted_queues q
      where q.queue = any (counted)
      order by q.queue
        for update;
    if not minutehand.sees_commits() then
        update minutehand.counted_queues q set queue = q.queue where q.queue = any (counted);
    end if;
end
$$;
