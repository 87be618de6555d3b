-- Blocked: the tenants' parts of lanes whose head has no job that may start, because scopes have no room. As long as these have
-- none, a tick does not read the head again. Only ticks write this: there is one at a time.

-- Marks the parts of these tenants whose head has only jobs in scopes without room, with these scopes. Others, such as one with
-- jobs that have expired, are read again by the next tick. Jobs that became due since `seen` are read, too.
create or replace function minutehand.block_parts(
    in_queue text, with_priority integer, tenants text[], floor timestamptz, moment timestamptz, full_scope minutehand.full_scope
) returns void
language sql volatile
as $$
    with head as materialized (
        select t.tenant, j.names
          from unnest(tenants) t (tenant)
         cross join lateral (
               select array_agg(distinct r.name) as names, bool_and(r.name is not null) as blocked
                 from (select minutehand.full_for(t.tenant, j.kind, coalesce(j.key, ''), j.group, full_scope.kinds, full_scope.others) as name
                         from minutehand.jobs_live j
                        where j.queue = in_queue and j.priority = with_priority and j.tenant = t.tenant and j.tenant <> ''
                          and j.visible >= block_parts.floor and j.visible <= moment
                        order by j.visible, j.id
                        limit minutehand.scan_rows('part')) r) j
         where j.blocked
    ), known as materialized (
        -- A worker that sweeps a part has locked its position.
        select p.part, h.names
          from minutehand.positions p
          join head h on h.tenant = p.part
         where p.queue = in_queue and p.priority = with_priority and not p.whole
           for update of p skip locked
    ), marked as (
        update minutehand.positions p
           set blocked = true, blocked_by = k.names, seen = minutehand.seen_at(moment)
          from known k
         where p.queue = in_queue and p.priority = with_priority and not p.whole and p.part = k.part
    )
    insert into minutehand.positions (queue, priority, whole, part, swept, blocked, blocked_by, seen)
    -- It is swept before those that were swept in the last hour.
    select in_queue, with_priority, false, h.tenant, moment - interval '1 hour', true, h.names, minutehand.seen_at(moment)
      from head h
     where not exists (select from minutehand.positions p
                        where p.queue = in_queue and p.priority = with_priority and not p.whole and p.part = h.tenant)
        on conflict do nothing
$$;

-- Notes for blocked parts, of which no job that became due since `seen` may start, that these have been read, with their scopes.
-- A part with very many scopes is read from the beginning again.
create or replace function minutehand.pass_parts(
    in_queue text, with_priority integer, tenants text[], moment timestamptz, full_scope minutehand.full_scope
) returns void
language sql volatile
as $$
    with known as materialized (
        select p.part, p.seen, p.blocked_by
          from minutehand.positions p
         where p.queue = in_queue and p.priority = with_priority and not p.whole and p.part = any (tenants)
           -- A lock is a write, and most parts have no new jobs.
           and (select j.id from minutehand.jobs_live j
                 where j.queue = in_queue and j.priority = with_priority and j.tenant = p.part and j.tenant <> ''
                   and j.visible >= p.seen and j.visible <= moment
                 limit 1) is not null
           for update skip locked
    ), later as materialized (
        select k.part, array(select distinct n from unnest(k.blocked_by || j.names) n where n is not null) as names
          from known k
         cross join lateral (
               select array_agg(r.name) as names, count(*) as jobs
                 from (select minutehand.full_for(k.part, j.kind, coalesce(j.key, ''), j.group, full_scope.kinds, full_scope.others) as name
                         from minutehand.jobs_live j
                        where j.queue = in_queue and j.priority = with_priority and j.tenant = k.part and j.tenant <> ''
                          and j.visible >= k.seen and j.visible <= moment
                        order by j.visible, j.id
                        limit minutehand.scan_rows('part')) r) j
         where j.jobs > 0
    )
    update minutehand.positions p
       set seen = minutehand.seen_at(moment), blocked_by = l.names, blocked = cardinality(l.names) <= minutehand.scan_rows('part')
      from later l
     where p.queue = in_queue and p.priority = with_priority and not p.whole and p.part = l.part
$$;

-- Returns the time from which jobs may not have been seen yet: others were enqueued by then, but not committed.
create or replace function minutehand.seen_at(moment timestamptz) returns timestamptz
language sql immutable parallel safe
as $$
    select moment - interval '6 seconds'
$$;

-- Returns some of the blocked parts with due jobs: those that were swept the longest ago. With `marks`, they are swept now, and
-- those without due jobs are not blocked.
create or replace function minutehand.blocked_parts(
    in_queue text, with_priority integer, floor timestamptz, moment timestamptz, full_scope minutehand.full_scope, marks boolean
) returns setof text
language sql volatile
as $$
    with oldest as materialized (
        select p.part::text
          from minutehand.positions p
         where p.queue = in_queue and p.priority = with_priority and not p.whole and p.part <> '' and p.blocked
           and (full_scope.tenants ? p.part) is not true
         order by p.swept
         limit minutehand.scan_rows('blocked')
    ), chosen as materialized (
        -- Not `exists`, for which the planner may read all due jobs into a hash table.
        select o.part,
               (select j.id from minutehand.jobs_live j
                 where j.queue = in_queue and j.priority = with_priority and j.tenant = o.part and j.tenant <> ''
                   and j.visible >= blocked_parts.floor and j.visible <= moment
                 limit 1) is not null as due,
               (select j.id from minutehand.jobs_live j
                 where j.queue = in_queue and j.priority = with_priority and j.tenant = o.part and j.tenant <> ''
                   and j.visible >= blocked_parts.floor and j.visible <= moment
                 order by j.visible, j.id
                offset minutehand.scan_rows('part')
                 limit 1) is not null as is_long
          from oldest o
    ), held as materialized (
        select p.part
          from minutehand.positions p
         where marks and p.queue = in_queue and p.priority = with_priority and not p.whole and p.part in (select c.part from chosen c)
           for update skip locked
    ), noted as (
        update minutehand.positions p
           -- The sweep marks a part with more jobs than its head. Marked here, one that no sweep reaches would seem swept.
           set swept = case when c.is_long then p.swept else moment end, blocked = c.due
          from held h
          join chosen c on c.part = h.part
         where p.queue = in_queue and p.priority = with_priority and not p.whole and p.part = h.part
    )
    select c.part from chosen c where c.due
$$;
