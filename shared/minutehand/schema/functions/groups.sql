-- Groups: the next jobs of groups. A scan goes from one group to the next by an index, so that a group that is full costs one
-- entry, however many of its jobs wait.
--
--   group_turns      where the scan of a stream goes on
--   blocked_groups   ordered groups of which a job is dead

-- Returns the order of a group: `block` or `continue` after a dead job, or null if it has none. A limit of the group precedes one
-- per group, and one that names the queue or the tenant precedes others.
create or replace function minutehand.order_of(in_queue text, of_tenant text, of_group text) returns text
language sql stable security definer set search_path = minutehand, pg_temp
as $$
    select c.on_dead
      from minutehand.controls c
     where c.limited and c.tenant in ('', of_tenant) and c.queue in ('', in_queue) and c.kind = '' and c.key = ''
       and (c.per = 'group' or c.per = '' and c.group = of_group)
     order by c.group <> '' desc, c.queue <> '' desc, c.tenant <> '' desc
     limit 1
$$;

-- Whether the first job of a group that is neither offered nor running is due, if the group has an order.
create or replace function minutehand.group_starts(in_queue text, of_tenant text, of_group text, moment timestamptz) returns boolean
language sql stable
as $$
    select minutehand.order_of(in_queue, of_tenant, of_group) is null or exists (
           select from (select l.visible
                          from minutehand.jobs_live l
                         where l.queue = in_queue and l.tenant = of_tenant and l.group = of_group
                           and not (coalesce(l.offered, l.claimed) is not null and l.visible > moment)
                           and not (l.after is not null and l.visible = minutehand.while_waiting())
                         order by l.run_at, l.id
                         limit 1) f
            where f.visible <= moment)
$$;

-- Whether a bound without room applies to all jobs of a group, or a dead job blocks it.
create or replace function minutehand.is_full(in_queue text, of_tenant text, of_group text, bounds minutehand.bound[], moment timestamptz) returns boolean
language sql stable
as $$
    select exists (select from minutehand.blocked_groups g
                    where g.queue = in_queue and g.tenant = of_tenant and g.group = of_group
                      and minutehand.order_of(in_queue, of_tenant, of_group) = 'block')
        or exists (select from unnest(bounds) b
                    where b.per = '' and b.group = of_group and b.free <= 0 and b.kind = '' and b.key = ''
                      and b.queue in ('', in_queue) and b.tenant in ('', of_tenant))
        or exists (select from unnest(bounds) b
                    where b.per = 'group' and b.starts and b.value = '' and b.kind = '' and b.key = ''
                      and b.queue in ('', in_queue) and b.tenant in ('', of_tenant)
                      and minutehand.free_of(b, of_tenant || '/' || in_queue || '/' || of_group, moment) <= 0
                      and not exists (select from unnest(bounds) n where n.per = '' and n.starts and n.group = of_group))
$$;

-- Returns the next jobs of the groups of streams: of each stream up to `most` groups that are not full, and of each group as many
-- jobs as it may have, but no more than ten. Of an ordered group this is the first job that is neither offered nor running, if it
-- may start. `place` counts the groups that were visited; a stream without such groups returns the last one.
create or replace function minutehand.group_heads(
    streams minutehand.stream[], lanes minutehand.due_lane[], moment timestamptz, bounds minutehand.bound[],
    scopes minutehand.full_scope[], tried uuid[], taken uuid[], steps integer
) returns table (number integer, queue text, priority integer, whole boolean, part text, tenant text, "group" text, place integer, candidate minutehand.candidate)
language sql stable rows 100
as $$
    with stream as materialized (
        select s.number::integer as number, s.queue, s.priority, s.whole, s.part, s.most, f.kinds, f.tenants, f.others, coalesce(t.tenant, '') as at_tenant,
               coalesce(t.group, '') as at_group, row(s.queue, s.priority, s.floor, s.whole, s.part, s.head, s.most, s.last)::minutehand.stream as self
          from unnest(streams) with ordinality s (queue, priority, floor, whole, part, head, most, last, number)
          join unnest(lanes) l on l.queue = s.queue and l.priority = s.priority and l.grouped
          join unnest(scopes) f on f.queue = s.queue
          -- A plain join would compare each stream with the positions of all streams.
          left join lateral (
               select o.tenant, o.group
                 from minutehand.group_turns o
                where o.queue = s.queue and o.priority = s.priority and o.whole = s.whole and o.part = s.part
                limit 1) t on true
         where (f.tenants ? s.part) is not true
    ), filled as materialized (
        select b.value from unnest(bounds) b
         where b.per in ('group', 'breaker') and b.value <> '' and b.free <= 0 and b.kind = '' and b.key = ''
    ), special as materialized (
        select exists (select from minutehand.controls c where c.in_order) as ordered,
               exists (select from minutehand.blocked_groups)
               or exists (select from unnest(bounds) b where b.group <> '' and b.per = '' or b.per = 'group' and b.starts) as limited,
               exists (select from unnest(bounds) b where b.per = 'breaker') as broken,
               (select least(10, greatest(1, max(b.free))) from unnest(bounds) b
                 where not b.starts and (b.per = 'group' and b.value = '' or b.per = '' and b.group <> '')) as width
    )
    select s.number, s.queue, s.priority, s.whole, s.part, g.tenant, g.group, g.step,
           case when g.id is not null
                then row(g.id, s.queue, s.priority, g.visible, g.tenant, g.kind, g.key, null, g.group)::minutehand.candidate end
      from stream s
     cross join lateral (
           select d.tenant, d.group, d.step, j.id, j.visible, j.kind, j.key
             from minutehand.stream_groups(s.self, s.at_tenant, s.at_group, moment, steps) d
            cross join special x
             left join lateral (
                  select true as free, case when x.ordered then minutehand.order_of(s.queue, d.tenant, d.group) end as on_dead
                   where d.visible <= moment and d.tenant || '/' || s.queue || '/' || d.group not in (select value from filled)
                     and not (x.limited and minutehand.is_full(s.queue, d.tenant, d.group, bounds, moment))
                     and not (x.broken and exists (select from minutehand.breaker_state(s.queue, d.tenant, d.group, moment) h
                                                    where not h.half_open))
                  -- It keeps the planner from computing the order of groups that are not free.
                  offset 0) o on true
             left join lateral (
                  (select r.id, r.visible, r.kind::text, coalesce(r.key, '') as key
                     from (select l.*
                             from minutehand.jobs_live l
                            where l.queue = s.queue and l.priority = s.priority and l.tenant = d.tenant and l.group = d.group
                              and l.visible <= moment
                            order by l.visible
                            limit 1000) r
                    where o.free and o.on_dead is null
                      and minutehand.may_start(r.attempts, r.max_attempts, r.cancelling, r.run_at, r.expires, moment)
                      and minutehand.has_room(r.tenant, r.kind, coalesce(r.key, ''), s.kinds, s.tenants, s.others)
                      and r.id not in (select unnest(tried))
                    limit x.width)
                   union all
                  (select r.id, r.visible, r.kind::text, coalesce(r.key, '')
                     from (select l.*
                             from minutehand.jobs_live l
                            where l.queue = s.queue and l.tenant = d.tenant and l.group = d.group
                              and not (coalesce(l.offered, l.claimed) is not null and l.visible > moment)
                              -- A job that waits for others takes its place when they have ended; one of them may come later.
                              and not (l.after is not null and l.visible = minutehand.while_waiting())
                              and l.id not in (select unnest(taken))
                            order by l.run_at, l.id
                            limit 1) r
                    where o.free and o.on_dead is not null and r.priority = s.priority and r.visible <= moment
                      and minutehand.may_start(r.attempts, r.max_attempts, r.cancelling, r.run_at, r.expires, moment)
                      and minutehand.has_room(r.tenant, r.kind, coalesce(r.key, ''), s.kinds, s.tenants, s.others)
                      and r.id not in (select unnest(tried)))) j on true
            where j.id is not null or d.step in (steps, 2 * steps)
            limit s.most) g
$$;

-- Returns the groups that a round visits, and their next jobs, with the numbers of their streams.
create or replace function minutehand.visit_groups(
    streams minutehand.stream[], lanes minutehand.due_lane[], moment timestamptz, bounds minutehand.bound[],
    scopes minutehand.full_scope[], tried uuid[], taken uuid[], out visits minutehand.group_visit[], out candidates minutehand.candidate[], out numbers integer[]
)
language plpgsql volatile
as $$
begin
    if exists (select from unnest(lanes) l where l.grouped) then
        select array_agg(row(h.queue, h.priority, h.whole, h.part, h.tenant, h.group, h.place, (h.candidate).id)::minutehand.group_visit),
               array_agg(h.candidate) filter (where (h.candidate).id is not null),
               array_agg(distinct h.number) filter (where (h.candidate).id is not null)
          into visits, candidates, numbers
          from minutehand.group_heads(streams, lanes, moment, bounds, scopes, tried, taken,
                                      minutehand.scan_rows('groups') + cardinality(bounds)) h;
    end if;
    visits := coalesce(visits, '{}');
    candidates := coalesce(candidates, '{}');
    numbers := coalesce(numbers, '{}');
end
$$;

-- Remembers where the next scan of the groups of a stream goes on: after the last group of which a job was locked, or if there was
-- room for more, after the last one that was visited. If the scan did not reach the end of the stream, it goes on from there: the
-- groups from the beginning come before those.
create or replace function minutehand.remember_groups(visits minutehand.group_visit[], locked uuid[], more boolean, steps integer) returns void
language plpgsql volatile
as $$
begin
    insert into minutehand.group_turns as t (queue, priority, whole, part, tenant, "group")
    select distinct on (v.queue, v.priority, v.whole, v.part) v.queue, v.priority, v.whole, v.part, v.tenant, v.group
      from unnest(visits) v
     where more or v.id = any (locked)
     order by v.queue, v.priority, v.whole, v.part,
              v.place > steps and exists (
              select from unnest(visits) o
               where (o.queue, o.priority, o.whole, o.part) = (v.queue, v.priority, v.whole, v.part) and o.place = steps),
              v.place desc
        on conflict (queue, priority, whole, part) do update set tenant = excluded.tenant, "group" = excluded.group, at = clock_timestamp();
end
$$;
