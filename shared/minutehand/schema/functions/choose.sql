-- Choose: select the due jobs that may be offered or taken, if anything is paused or limited or tenants share a
-- queue. Otherwise no statement calls it. The candidates are in candidates.sql, the bounds in controls.sql.

-- Returns the due jobs that may be offered or taken, at most `room`, and locks them. Locks the limits' rows until the
-- transaction ends: a session that counts against the same limit counts afterwards, in a new snapshot, so that
-- no limit is ever exceeded.
-- With `in_turn`, tenants that share a queue take turns. A resident worker takes the jobs that have been due the longest.
-- A session plans the queries below once, and the plans do not depend on statistics: planning takes longer than a round,
-- and a queue may get a million jobs before the next ANALYZE.
create or replace function minutehand.choose(
    room integer, moment timestamptz, queues text[] default '{}', budgets integer[] default '{}', only_queue text default null,
    in_turn boolean default true
) returns setof uuid
language plpgsql volatile rows 100 security definer set search_path = minutehand, pg_temp
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off set jit = off
as $$
declare
    lanes  minutehand.due_lane[];
    bounds minutehand.bound[];
    tried  uuid[] := '{}';
    step   record;
begin
    perform from minutehand.controls c
      where c.max_running is not null and (only_queue is null or c.queue in ('', only_queue))
      order by c.tenant, c.queue, c.kind, c.key
        for update;
    bounds := minutehand.bounds(moment, queues, budgets, only_queue);
    if only_queue is null then
        lanes := array(select row(l.*)::minutehand.due_lane from minutehand.due_lanes(moment) l);
    else
        lanes := array(select row(l.*)::minutehand.due_lane from minutehand.due_lanes(moment) l where l.queue = only_queue);
    end if;
    while room > 0 loop
        select * into step from minutehand.choose_round(room, moment, lanes, bounds, tried, in_turn);
        return query select unnest(step.locked);
        room := room - cardinality(step.locked);
        exit when room = 0 or not step.more;
        tried := tried || step.selected;
        bounds := minutehand.bounds_left(bounds, step.locked);
    end loop;
end
$$;

-- Runs one round: selects the candidates for which every bound has room, and locks up to `room` of them. Returns the jobs
-- that it selected, those that it locked, and whether another round may find more. All jobs have a place in one order, so
-- that overlapping bounds never hold back the first of them, and each round makes progress. If `fair`, tenants that share
-- a queue take turns, whatever the priority of the others' jobs, and a round gives no tenant more than its share.
create or replace function minutehand.choose_round(
    room integer, moment timestamptz, lanes minutehand.due_lane[], bounds minutehand.bound[], tried uuid[], fair boolean,
    out selected uuid[], out locked uuid[], out more boolean
)
language plpgsql volatile
as $$
begin
    with candidate as materialized (
        select c.*, row_number() over (partition by c.queue, c.place order by c.priority desc, c.visible, c.id) as own
          from minutehand.candidates(room, moment, lanes, bounds, tried, fair) c
    ), turn as materialized (
        select c.*, row_number() over (partition by c.queue order by c.own, c.place, c.priority desc, c.visible, c.id) as turn
          from candidate c
         where c.own <= c.share
    ), scope as (
        select distinct b.tenant <> '' as by_tenant, b.queue <> '' as by_queue, b.kind <> '' as by_kind, b.key <> '' as by_key
          from unnest(bounds) b
    ), placed as (
        select t.id, b.free, row_number() over (partition by b.tenant, b.queue, b.kind, b.key order by t.turn, t.visible, t.id) as place
          from turn t
         cross join scope s
          join unnest(bounds) b on b.tenant = case when s.by_tenant then t.tenant else '' end
                               and b.queue = case when s.by_queue then t.queue else '' end
                               and b.kind = case when s.by_kind then t.kind else '' end
                               and b.key = case when s.by_key then t.key else '' end
         where (t.tenant <> '' or not s.by_tenant) and (t.key <> '' or not s.by_key)
    ), free as materialized (
        select t.id, t.queue, t.tenant, t.turn, t.visible
          from turn t
         where t.id not in (select p.id from placed p where p.place > p.free)
         order by t.turn, t.visible, t.id
    ), held as materialized (
        select f.id, f.queue, f.tenant, f.turn
          from free f
         cross join lateral (
               select
                 from minutehand.jobs_live j
                where j.id = f.id and j.visible <= moment
                  and minutehand.may_start(j.attempts, j.max_attempts, j.cancelling, j.expires_at, moment)
                limit 1
                  for update skip locked) j
         limit room
    ), served as (
        insert into minutehand.turns as t (queue, last)
        select distinct on (h.queue) h.queue, h.tenant
          from held h
         where fair and h.queue in (select l.queue from unnest(lanes) l where l.shared)
         order by h.queue, h.turn desc
            on conflict (queue) do update set last = excluded.last where t.last <> excluded.last
    )
    -- If a lane had fewer candidates than there is room for, and all of them were chosen, it has no others.
    select array(select f.id from free f), array(select h.id from held h),
           exists (select from free) and ((select count(*) from candidate) > (select count(*) from held)
                                          or exists (select from unnest(lanes) l where l.shared))
      into selected, locked, more;
end
$$;
