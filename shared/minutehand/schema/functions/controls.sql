-- Controls: paused and limited jobs are neither offered nor taken.

-- Locks the dispatcher's row until the transaction ends. No tick offers a job until then.
create or replace function minutehand.hold_ticks() returns void
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    select from minutehand.dispatcher for update
$$;

-- Whether a bound applies to a job.
create or replace function minutehand.bounds_job(bound minutehand.bound, tenant text, queue text, kind text, key text) returns boolean
language sql immutable parallel safe
as $$
    select (bound).tenant in ('', tenant) and (bound).queue in ('', queue) and (bound).kind in ('', kind)
           and (bound).key in ('', coalesce(key, ''))
$$;

-- Returns how many jobs under a bound are offered or running. In plpgsql, because the planner would greatly
-- overestimate the cost of an SQL function.
create or replace function minutehand.busy(bound minutehand.bound) returns bigint
language plpgsql stable
as $$
begin
    return (select count(*)
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null and j.visible > now()
               and minutehand.bounds_job(bound, j.tenant, j.queue, j.kind, j.key));
end
$$;

-- Returns the bounds at a time, one for each scope, from the controls and the budgets of queues.
create or replace function minutehand.bounds(moment timestamptz, queues text[], budgets integer[], only_queue text) returns minutehand.bound[]
language plpgsql volatile
as $$
declare
    most minutehand.bound[] := array(
        select row(g.tenant, g.queue, g.kind, g.key, min(g.most))::minutehand.bound
          from (select c.tenant, c.queue, c.kind, c.key,
                       case when c.paused and (c.until is null or c.until > moment) then 0 else c.max_running end as most
                  from minutehand.controls c
                 where only_queue is null or c.queue in ('', only_queue)
                 union all
                select '', b.queue, '', '', b.budget from unnest(queues, budgets) b (queue, budget)) g
         where g.most is not null
         group by g.tenant, g.queue, g.kind, g.key);
begin
    return minutehand.bounds_left(most, array(select j.id from minutehand.jobs_live j
                                               where coalesce(j.offered, j.claimed) is not null and j.visible > moment));
end
$$;

-- Returns the bounds less the given jobs. Each job is looked up once for each combination of names that bounds have, so
-- that the cost does not depend on the number of bounds.
create or replace function minutehand.bounds_left(bounds minutehand.bound[], ids uuid[]) returns minutehand.bound[]
language plpgsql volatile
as $$
begin
    return array(
        with job as materialized (
            select j.tenant, j.queue, j.kind, coalesce(j.key, '') as key from minutehand.jobs_live j where j.id = any (ids)
        ), scope as (
            select distinct b.tenant <> '' as by_tenant, b.queue <> '' as by_queue, b.kind <> '' as by_kind, b.key <> '' as by_key
              from unnest(bounds) b
        ), counted as (
            select case when s.by_tenant then j.tenant else '' end as tenant, case when s.by_queue then j.queue else '' end as queue,
                   case when s.by_kind then j.kind else '' end as kind, case when s.by_key then j.key else '' end as key,
                   count(*)::integer as jobs
              from scope s
             cross join job j
             where (j.tenant <> '' or not s.by_tenant) and (j.key <> '' or not s.by_key)
             group by 1, 2, 3, 4
        )
        select row(b.tenant, b.queue, b.kind, b.key, b.free - coalesce(c.jobs, 0))::minutehand.bound
          from unnest(bounds) b
          left join counted c using (tenant, queue, kind, key));
end
$$;

-- Counts the due jobs of each queue, as the statement `count_due` does, excluding paused jobs. Reads at most five times as many
-- rows of a lane as it may count, and at least a thousand: a queue whose first due jobs are all paused may have others, and is
-- returned with 0.
create or replace function minutehand.count_unpaused(max_rows bigint, moment timestamptz) returns table (queue text, due bigint, late interval)
language sql stable rows 10 security definer set search_path = minutehand, pg_temp
as $$
    with paused as materialized (
        select c.tenant, c.queue, c.kind, c.key
          from minutehand.controls c
         where c.paused and (c.until is null or c.until > moment)
    )
    select l.queue, least(count(j.visible), max_rows), coalesce(moment - min(j.visible), interval '0')
      from minutehand.due_lanes(moment) l
      left join lateral (
           select v.visible
             from (select f.visible, f.kind, f.queue, f.key, f.tenant
                     from minutehand.jobs_live f
                    where f.queue = l.queue and f.priority = l.priority and f.visible >= l.floor and f.visible <= moment
                    order by f.visible
                    limit (select greatest(minutehand.scan_rows('head'), 5 * max_rows))) v
            where not exists (select from paused p
                               where (p.kind = '' or p.kind = v.kind) and (p.queue = '' or p.queue = v.queue)
                                 and (p.key = '' or p.key = v.key) and (p.tenant = '' or p.tenant = v.tenant))
            limit (select max_rows)) j on true
     where not exists (select from paused p where p.tenant = '' and p.queue in ('', l.queue) and p.kind = '' and p.key = '')
     group by l.queue
    having count(j.visible) > 0
        or bool_or(exists (select from minutehand.jobs_live f
                            where f.queue = l.queue and f.priority = l.priority and f.visible >= l.floor and f.visible <= moment
                            order by f.visible
                           offset (select greatest(minutehand.scan_rows('head'), 5 * max_rows))))
$$;
