-- Choose: select the due jobs that may be offered or taken, if anything is paused or limited or tenants share a
-- queue. Otherwise no statement calls it. The streams are in streams.sql and sweep.sql, their heads in candidates.sql, the
-- bounds in controls.sql.

-- Returns the due jobs that may be offered or taken, at most `room`, and locks them. Other sessions that count
-- against the same limits do so after this transaction has ended, in a new snapshot, so that no limit is ever exceeded.
-- Without `counts`, the caller counts towards rates those that it takes, with count_taken, in the same transaction.
-- With `in_turn`, tenants that share a queue take turns. A resident worker takes the jobs that have been due the longest.
--
-- Its cost is bounded: each round reads the heads of the streams, and all rounds together sweep a bounded number of rows.
-- A session plans the queries below once, and the plans do not depend on statistics: planning takes longer than a round,
-- and a queue may get a million jobs before the next ANALYZE.
create or replace function minutehand.choose(
    room integer, moment timestamptz, queues text[] default '{}', budgets integer[] default '{}', only_queue text default null,
    in_turn boolean default true, counts boolean default true
) returns setof uuid
language plpgsql volatile rows 100 security definer set search_path = minutehand, pg_temp
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off set jit = off
as $$
declare
    lanes   minutehand.due_lane[];
    bounds  minutehand.bound[];
    scopes  minutehand.full_scope[];
    streams minutehand.stream[];
    found_jobs minutehand.candidate[] := '{}';
    heads   record;
    grouped record;
    swept   record;
    step    record;
    tried   uuid[] := '{}';
    taken   uuid[] := '{}';
    opened  integer[] := '{}';
    rows    integer := minutehand.scan_rows('sweep');
    served  text[] := '{}';
begin
    if room <= 0 then
        return;
    end if;
    if only_queue is null then
        lanes := array(select row(l.*)::minutehand.due_lane from minutehand.due_lanes(moment) l);
    else
        lanes := array(select row(l.*)::minutehand.due_lane from minutehand.due_lanes(moment) l where l.queue = only_queue);
    end if;
    perform minutehand.lock_counts(lanes, only_queue);
    bounds := minutehand.bounds(moment, queues, budgets, only_queue);
    scopes := minutehand.full_scopes(lanes, bounds, moment);
    streams := array(select s from minutehand.streams(lanes, room, moment, scopes, in_turn, only_queue is null) s);
    while room > 0 loop
        found_jobs := array(select c from minutehand.still_candidates(found_jobs, scopes, tried) c);
        select coalesce(array_agg(h.candidate), '{}') as candidates, coalesce(array_agg(distinct h.number), '{}') as numbers
          into heads
          from minutehand.heads(streams, moment, scopes, tried) h;
        opened := opened || heads.numbers;
        select * into grouped from minutehand.visit_groups(streams, lanes, moment, bounds, scopes, tried, taken);
        if rows > 0 then
            select * into swept
              from minutehand.sweep_blocked(
                   streams,
                   heads.numbers || grouped.numbers || array(select f.stream from unnest(found_jobs) f where f.stream is not null),
                   room, moment, scopes, tried, rows, only_queue is null);
            rows := rows - swept.read;
            found_jobs := found_jobs || swept.jobs;
        end if;
        select * into step
          from minutehand.choose_round(room, moment, heads.candidates || grouped.candidates || found_jobs, lanes, bounds, in_turn);
        return query select unnest(step.locked);
        room := room - cardinality(step.locked);
        served := served || step.served;
        tried := tried || step.selected;
        taken := taken || step.locked;
        if grouped.visits <> '{}' then
            perform minutehand.remember_groups(
                grouped.visits, step.locked, room > 0, minutehand.scan_rows('groups') + cardinality(bounds));
        end if;
        -- The statements below serve the next round, and the positions of jobs that were found.
        exit when step.selected = '{}' or room <= 0 and found_jobs = '{}';
        bounds := minutehand.bounds_left(bounds, minutehand.counted_jobs(step.locked), moment, true);
        scopes := minutehand.full_scopes(lanes, bounds, moment);
    end loop;
    if counts and exists (select from unnest(bounds) b where b.starts) then
        perform minutehand.count_starts(minutehand.counted_jobs(taken), bounds, moment);
    end if;
    if in_turn or found_jobs <> '{}' then
        perform minutehand.remember(streams, opened, found_jobs, scopes, tried, served);
    end if;
    if in_turn and only_queue is null and room > 0 then
        perform minutehand.end_turns(streams, taken);
    end if;
end
$$;

-- Runs one round: selects the candidates for which every bound has room, and locks up to `room` of them. Returns the jobs
-- that it selected, those that it locked, and the queues of these. All jobs have a place in one order, so that overlapping
-- bounds never hold back the first of them, and each round makes progress. If `fair`, tenants that share a queue take turns in
-- proportion to their weights, whatever the priority of the others' jobs. A candidate's turn is its tenant's until another
-- column takes its place here, in `start` and in turn_ends.
create or replace function minutehand.choose_round(
    room integer, moment timestamptz, candidates minutehand.candidate[], lanes minutehand.due_lane[], bounds minutehand.bound[], fair boolean,
    out selected uuid[], out locked uuid[], out served text[]
)
language plpgsql volatile
as $$
declare
    step constant interval := (select s.priority_step from minutehand.settings s);
    sharing constant text[] := array(select distinct l.queue from unnest(lanes) l where l.shared and fair);
begin
    with candidate as materialized (
        select c.*, c.visible - c.priority * step as rank, coalesce(q.weight, s.weight, 1) as weight, greatest(e.ends, t.now, 0) as start
          from (select distinct on (u.id) u.* from unnest(candidates) u order by u.id) c
          -- With plain joins, a plan for empty tables would compare each candidate with each tenant.
          left join lateral (select o.now from minutehand.turns o where c.queue = any (sharing) and o.queue = c.queue limit 1) t on true
          left join lateral (
               select o.ends from minutehand.turn_ends o where c.queue = any (sharing) and o.queue = c.queue and o.turn = c.tenant limit 1) e on true
          left join lateral (
               select o.weight from minutehand.shares o where c.queue = any (sharing) and o.turn = c.tenant and o.queue = c.queue limit 1) q on true
          left join lateral (
               select o.weight from minutehand.shares o where c.queue = any (sharing) and o.turn = c.tenant and o.queue = '' limit 1) s on true
    ), own as materialized (
        select c.*, c.start + (row_number() over (partition by c.queue, case when fair then c.tenant end
                                                  order by c.rank, c.id) - 1) / c.weight::double precision as begins
          from candidate c
    ), turn as materialized (
        select o.*, row_number() over (partition by o.queue order by o.begins, o.tenant, o.rank, o.id) as turn
          from own o
    ), free as materialized (
        select t.*
          from turn t
         where t.id not in (
               select minutehand.over_bounds(array(
                          select row(o.id, o.tenant, o.queue, o.kind, o.key, o.group, o.turn, o.visible)::minutehand.counted_job from turn o),
                      bounds, moment))
         order by t.turn, t.visible, t.id
    ), held as materialized (
        select f.*
          from free f
         cross join lateral (
               select
                 from minutehand.jobs_live j
                where j.id = f.id and j.visible <= moment
                  and minutehand.may_start(j.attempts, j.max_attempts, j.cancelling, j.run_at, j.expires, moment)
                limit 1
                  for update skip locked) j
         limit room
    ), shared as (
        select h.* from held h where h.queue = any (sharing)
    ), ended as (
        insert into minutehand.turn_ends (queue, turn, ends)
        select s.queue, s.tenant, max(s.begins + 1 / s.weight::double precision) from shared s group by s.queue, s.tenant
            on conflict (queue, turn) do update set ends = excluded.ends
    ), went_on as (
        insert into minutehand.turns as t (queue, now)
        select s.queue, max(s.begins) from shared s group by s.queue
            on conflict (queue) do update set now = greatest(t.now, excluded.now)
    )
    select array(select f.id from free f), array(select h.id from held h), array(select distinct s.queue from shared s)
      into selected, locked, served;
end
$$;

-- Remembers where the next ticks go on: a stream whose sweep found jobs that may still start, with the first of these; the list of
-- a queue's tenants, after the last one that had its turn. Forgets turns that are over.
create or replace function minutehand.remember(
    streams minutehand.stream[], opened integer[], found_jobs minutehand.candidate[], scopes minutehand.full_scope[], tried uuid[],
    served text[]
) returns void
language plpgsql volatile
as $$
begin
    update minutehand.positions p
       set visible = f.visible, id = f.id
      from (select distinct on (c.stream) s.queue, s.priority, s.whole, s.part, c.visible, c.id
              from minutehand.still_candidates(found_jobs, scopes, tried) c
              join unnest(streams) with ordinality s (queue, priority, floor, whole, part, head, most, last, number)
                on s.number = c.stream
             order by c.stream, c.visible, c.id) f
     where p.queue = f.queue and p.priority = f.priority and p.whole = f.whole and p.part = f.part;
    update minutehand.positions p
       set blocked = false
      from unnest(streams) with ordinality s (queue, priority, floor, whole, part, head, most, last, number)
     where not s.whole and s.part <> '' and s.number = any (opened)
       and p.queue = s.queue and p.priority = s.priority and not p.whole and p.part = s.part and p.blocked;
    insert into minutehand.turns as t (queue, last)
    select distinct on (l.queue) l.queue, l.part
      from (select distinct on (s.queue, s.priority) s.queue, s.part, s.part <= coalesce(o.last, '') as around
              from unnest(streams) s
              left join minutehand.turns o on o.queue = s.queue
             where s.last
             order by s.queue, s.priority, s.part <= coalesce(o.last, '') desc, s.part desc) l
     order by l.queue, l.around, l.part
        on conflict (queue) do update set last = excluded.last;
    delete from minutehand.turn_ends e
     using minutehand.turns t
     where e.queue = any (served) and t.queue = e.queue and e.ends <= t.now;
end
$$;

-- Ends the turns of tenants that were visited, because a job of theirs seemed to be able to start, if none did: the next tick visits
-- tenants with an earlier end before these, and those to whom jobs were given have one. Otherwise, tenants whose groups wait could
-- precede all others at each tick.
create or replace function minutehand.end_turns(streams minutehand.stream[], taken uuid[]) returns void
language sql volatile
as $$
    with idle as materialized (
        select distinct s.queue, s.part, coalesce(t.now, 0) as now
          from unnest(streams) s
          left join minutehand.turns t on t.queue = s.queue
         where not s.whole and s.part <> ''
           and (s.queue, s.part) not in (select j.queue::text, j.tenant::text from minutehand.jobs_live j where j.id = any (taken))
    )
    insert into minutehand.turn_ends as e (queue, turn, ends)
    select i.queue, i.part, i.now + 2
      from idle i
      left join lateral (select o.ends from minutehand.turn_ends o where o.queue = i.queue and o.turn = i.part limit 1) known on true
      left join lateral (
           select true as yes from minutehand.turn_ends o where o.queue = i.queue and o.turn = i.part limit 1
              for update skip locked) held on true
     where known.ends is null or held.yes and known.ends <= i.now + 1
     order by i.queue, i.part
        -- Another session may have inserted it since.
        on conflict (queue, turn) do update set ends = greatest(e.ends, excluded.ends)
$$;
