-- Controls: paused and limited jobs are neither offered nor taken.

-- Locks the dispatcher's row until the transaction ends. No tick offers a job until then.
create or replace function minutehand.hold_ticks() returns void
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    select from minutehand.dispatcher for update
$$;

-- Counts the due jobs of each queue, as the statement `count_due` does, excluding paused jobs. Reads at most five times as many
-- rows of a lane as it may count, and at least a thousand: a queue whose first due jobs are all paused may have others, and is
-- returned with 0.
create or replace function minutehand.count_unpaused(max_rows bigint, moment timestamptz) returns table (queue text, due bigint, late interval)
language sql stable rows 10 security definer set search_path = minutehand, pg_temp
as $$
    with paused as materialized (
        select c.tenant, c.queue, c.kind, c.key, c.group
          from minutehand.controls c
         where c.paused and (c.until is null or c.until > moment)
    )
    select l.queue, least(count(j.visible), max_rows), coalesce(moment - min(j.visible), interval '0')
      from minutehand.due_lanes(moment) l
      left join lateral (
           select v.visible
             from (select f.visible, f.kind, f.queue, f.key, f.group, f.tenant
                     from minutehand.jobs_live f
                    where f.queue = l.queue and f.priority = l.priority and f.visible >= l.floor and f.visible <= moment
                    order by f.visible
                    limit (select greatest(minutehand.scan_rows('head'), 5 * max_rows))) v
            where not exists (select from paused p
                               where (p.kind = '' or p.kind = v.kind) and (p.queue = '' or p.queue = v.queue)
                                 and (p.key = '' or p.key = v.key) and (p.group = '' or p.group = v.group) and (p.tenant = '' or p.tenant = v.tenant))
            limit (select max_rows)) j on true
     where not exists (select from paused p where p.tenant = '' and p.queue in ('', l.queue) and p.kind = '' and p.key = '' and p.group = '')
     group by l.queue
    having count(j.visible) > 0
        or bool_or(exists (select from minutehand.jobs_live f
                            where f.queue = l.queue and f.priority = l.priority and f.visible >= l.floor and f.visible <= moment
                            order by f.visible
                           offset (select greatest(minutehand.scan_rows('head'), 5 * max_rows))))
$$;
