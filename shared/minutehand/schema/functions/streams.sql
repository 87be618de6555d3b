-- Streams: where `choose` looks for due jobs. A stream is a range of an index: a lane, or of a lane that tenants share, the
-- jobs of one tenant, or those without a tenant.

-- Returns the tenants with jobs in a lane, from one tenant to the end, and then from the beginning up to that tenant, the first of
-- these jobs, and whether it is due. Reads one entry of the index for each tenant, when the caller asks for it.
-- Jobs have a column `after`, so the parameter is named with the function.
create or replace function minutehand.tenants_in_lane(in_queue text, with_priority integer, after text, moment timestamptz)
returns table (tenant text, due boolean, first uuid)
language sql stable rows 1000
as $$
    select n.tenant, n.visible <= moment, n.id
      from (with recursive n (tenant, visible, id) as (
                (select j.tenant::text, j.visible, j.id
                   from minutehand.jobs_live j
                  where j.queue = in_queue and j.priority = with_priority and j.tenant <> '' and j.tenant > tenants_in_lane.after
                  order by j.tenant, j.visible, j.id limit 1)
                union all
                select f.tenant, f.visible, f.id
                  from n
                 cross join lateral (
                       select j.tenant::text, j.visible, j.id
                         from minutehand.jobs_live j
                        where j.queue = in_queue and j.priority = with_priority and j.tenant <> '' and j.tenant > n.tenant
                        order by j.tenant, j.visible, j.id limit 1) f)
            select * from n) n
    union all
    select n.tenant, n.visible <= moment, n.id
      from (with recursive n (tenant, visible, id) as (
                (select j.tenant::text, j.visible, j.id
                   from minutehand.jobs_live j
                  where j.queue = in_queue and j.priority = with_priority and j.tenant <> '' and j.tenant <= tenants_in_lane.after
                  order by j.tenant, j.visible, j.id limit 1)
                union all
                select f.tenant, f.visible, f.id
                  from n
                 cross join lateral (
                       select j.tenant::text, j.visible, j.id
                         from minutehand.jobs_live j
                        where j.queue = in_queue and j.priority = with_priority and j.tenant <> '' and j.tenant > n.tenant
                          and j.tenant <= tenants_in_lane.after
                        order by j.tenant, j.visible, j.id limit 1) f)
            select * from n) n
$$;

-- Returns the streams of lanes. A lane that tenants do not share is one; so is one with few due jobs, or if not `fair`. `marks` is
-- whether to remember the tenants whose head is blocked: one session at a time may.
create or replace function minutehand.streams(
    lanes minutehand.due_lane[], room integer, moment timestamptz, scopes minutehand.full_scope[], fair boolean, marks boolean
) returns setof minutehand.stream
language plpgsql volatile
as $$
declare
    -- Of a shared lane with no more due jobs than these, the head has all of them.
    few  constant integer := greatest(room, minutehand.scan_rows('part'));
    head constant integer := greatest(2 * room, minutehand.scan_rows('head'));
    lane record;
begin
    for lane in
        select l.*, f as full_scope,
               fair and l.shared and exists (select from minutehand.jobs_live j
                                              where j.queue = l.queue and j.priority = l.priority
                                                and j.visible >= l.floor and j.visible <= moment
                                              order by j.visible offset few) as deep
          from unnest(lanes) l
          join unnest(scopes) f on f.queue = l.queue
    loop
        if not lane.deep then
            return query select lane.queue, lane.priority, lane.floor, true, '', head,
                                -- Other workers may have locked some of them.
                                case when not fair then room + 20 when lane.shared then few else room end::bigint, false;
            continue;
        end if;
        return query select lane.queue, lane.priority, lane.floor, false, '', head, room::bigint, false where lane.mixed;
        return query
        select lane.queue, lane.priority, lane.floor, false, t.part, minutehand.scan_rows('part'),
               ceil(room * t.weight::numeric / greatest(t.weight, sum(t.weight) filter (where t.open) over ()))::bigint, t.last
          from minutehand.visit_tenants(lane.queue, lane.priority, lane.floor, room, moment, lane.full_scope, marks) t;
    end loop;
end
$$;

-- Visits tenants of a shared lane in the order of their turns, until as many have a job at their head that may start as there is
-- room for, and returns these. Of tenants whose head is known to be blocked, reads only the jobs that became due since; returns some
-- of them for a sweep: those that were swept the longest ago. Paused tenants get no turn.
create or replace function minutehand.visit_tenants(
    in_queue text, with_priority integer, floor timestamptz, room integer, moment timestamptz, full_scope minutehand.full_scope,
    marks boolean, out part text, out weight integer, out open boolean, out last boolean
) returns setof record
language plpgsql volatile
as $$
declare
    opened integer := 0;
    closed text[] := '{}';
    passed text[] := '{}';
    most   constant integer := room + minutehand.scan_rows('listed');
    -- How many more tenants may be examined for ordered groups.
    left_in_order integer := case when exists (select from minutehand.controls c where c.in_order and c.queue in ('', in_queue))
                                  then minutehand.scan_rows('in order') else 0 end;
    visit  record;
    ended  boolean;
begin
    for visit in
        -- The group of the first job at the head that may start, '' if it has none, or null if no job may.
        select v.*, (
               select coalesce(r.group, '')
                 from ((select j.* from minutehand.jobs_live j where v.seen is null and j.id = v.first)
                        union all
                       -- Read only if the first one may not start: finding a tenant in this index takes several times as long as finding an id.
                       (select j.*
                          from minutehand.jobs_live j
                         where j.queue = in_queue and j.priority = with_priority and j.tenant = v.tenant and j.tenant <> ''
                           and j.visible >= greatest(visit_tenants.floor, v.seen) and j.visible <= moment
                         order by j.visible, j.id
                         limit minutehand.scan_rows('part'))) r
                where v.due and minutehand.may_start(r.attempts, r.max_attempts, r.cancelling, r.run_at, r.expires, moment)
                  and minutehand.has_room(v.tenant, r.kind, coalesce(r.key, ''), (full_scope).kinds, null, (full_scope).others)
                  and (r.group is null or ((full_scope).others ?| minutehand.group_scopes(v.tenant, r.group)) is not true)
                limit 1) as first_group
          from minutehand.tenants_in_turn(in_queue, with_priority, floor, most, moment, full_scope) v
    loop
        part := visit.tenant;
        weight := visit.weight;
        open := visit.first_group is not null;
        if visit.first_group <> '' and left_in_order > 0 then
            left_in_order := left_in_order - 1;
            -- Such a tenant is scanned, but uses up no turn of the others.
            open := minutehand.group_starts(in_queue, part, visit.first_group, moment)
                    or minutehand.starts_in_order(in_queue, with_priority, part, floor, moment);
        end if;
        opened := opened + open::integer;
        if visit.due and visit.first_group is null and visit.seen is null then
            closed := closed || part;
        elsif visit.due and visit.first_group is null then
            passed := passed || part;
        end if;
        ended := opened = room or cardinality(closed) = minutehand.scan_rows('closed');
        -- The next tick goes on after the last one whose turn it was, or if there are too many, after the last one that was listed.
        last := visit.listed is not null and (visit.listed = most or visit.ahead = 0 and (ended or visit.first_group is not null));
        if visit.first_group is not null or last then
            return next;
        end if;
        exit when ended;
    end loop;
    if marks then
        perform minutehand.block_parts(in_queue, with_priority, closed, floor, moment, full_scope);
        perform minutehand.pass_parts(in_queue, with_priority, passed, moment, full_scope);
    end if;
    return query
    select b, coalesce(q.weight, s.weight, 1), false, false
      from minutehand.blocked_parts(in_queue, with_priority, floor, moment, full_scope, marks) b
      left join minutehand.shares q on q.turn = b and q.queue = in_queue
      left join minutehand.shares s on s.turn = b and s.queue = '';
end
$$;

-- Whether a tenant has a due job at its head that its group lets start: not if the first job of an ordered group waits, such as for a
-- retry. With ten such groups at the head, or with other reasons to wait, assumes that one starts.
create or replace function minutehand.starts_in_order(
    in_queue text, with_priority integer, of_tenant text, floor timestamptz, moment timestamptz
) returns boolean
language sql stable
as $$
    with groups as materialized (
        select distinct h.group
          from (select j.group
                  from minutehand.jobs_live j
                 where j.queue = in_queue and j.priority = with_priority and j.tenant = of_tenant and j.tenant <> ''
                   and j.visible >= starts_in_order.floor and j.visible <= moment
                 order by j.visible, j.id
                 limit minutehand.scan_rows('part')) h
    )
    select count(*) >= 10 or coalesce(bool_or(g.group is null or minutehand.group_starts(in_queue, of_tenant, g.group, moment)), false)
      from (select * from groups limit 10) g
$$;

-- Lists up to `most` tenants with jobs in a lane in the order of their turns, as far as the caller reads: first those whose turn it
-- is, in the order of names, from the tenant on at which the last tick ended; then those that are `ahead` of the time of the queue.
-- `due` is whether a tenant has a due job and is not paused; `seen`, if its head is known to be blocked, the time from which on its
-- jobs may not have been read. If there are more tenants, also lists those of the jobs that became due first and last: otherwise they
-- would wait for others, most of which may have no due job.
create or replace function minutehand.tenants_in_turn(
    in_queue text, with_priority integer, floor timestamptz, most integer, moment timestamptz, full_scope minutehand.full_scope
) returns table (tenant text, weight integer, due boolean, first uuid, seen timestamptz, listed bigint, ahead double precision)
language sql stable rows 1000
as $$
    with present as materialized (
        select coalesce(max(o.last), '') as last, coalesce(max(o.now), 0) as now from minutehand.turns o where o.queue = in_queue
    ), listed as materialized (
        select t.tenant, t.due, t.first, row_number() over () as listed, greatest(e.ends - p.now, 0) as ahead
          from present p
         -- With a subquery as an argument, the function would list all tenants before the limit applies.
         cross join lateral minutehand.tenants_in_lane(in_queue, with_priority, p.last, moment) t
          left join lateral (select o.ends from minutehand.turn_ends o where o.queue = in_queue and o.turn = t.tenant limit 1) e on true
         limit most
    ), at_ends as materialized (
        select a.tenant, greatest(e.ends - p.now, 0) as ahead
          from present p
         cross join lateral (
               select j.tenant::text
                 from (select exists (select from listed where listed.listed = most) as more) l
                cross join lateral (
                      (select tenant from minutehand.jobs_live
                        where l.more and queue = in_queue and priority = with_priority and visible >= tenants_in_turn.floor and visible <= moment
                        order by visible, coalesce(id, id) limit minutehand.scan_rows('head'))
                       union all
                      (select tenant from minutehand.jobs_live
                        where l.more and queue = in_queue and priority = with_priority and visible >= tenants_in_turn.floor and visible <= moment
                        order by visible desc, coalesce(id, id) desc limit minutehand.scan_rows('head'))) j
                where j.tenant <> ''
               except
               select tenant from listed) a
          left join lateral (select o.ends from minutehand.turn_ends o where o.queue = in_queue and o.turn = a.tenant limit 1) e on true
    )
    select l.tenant, coalesce(q.weight, s.weight, 1), l.due and (full_scope.tenants ? l.tenant) is not true, l.first,
           case when p.blocked_by is not null and minutehand.are_full(p.blocked_by, full_scope.kinds, full_scope.others) then p.seen end, l.listed, l.ahead
      from ((select * from listed where ahead = 0)
             union all
            (select tenant, true, null, null, ahead from at_ends where ahead = 0)
             union all
            (select *
               from (select * from listed union all select tenant, true, null, null, ahead from at_ends) u
              where u.ahead > 0
              -- The last one is where the next tick goes on, even if this one does not get that far.
              order by u.listed is not distinct from most desc, u.ahead, u.listed)) l (tenant, due, first, listed, ahead)
      left join lateral (select o.weight from minutehand.shares o where o.turn = l.tenant and o.queue = in_queue limit 1) q on true
      left join lateral (select o.weight from minutehand.shares o where o.turn = l.tenant and o.queue = '' limit 1) s on true
      left join lateral (
           select o.blocked_by, o.seen
             from minutehand.positions o
            where o.queue = in_queue and o.priority = with_priority and not o.whole and o.part = l.tenant and o.blocked
            limit 1) p on true
$$;
