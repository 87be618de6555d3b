-- Control: what is paused or limited is neither offered nor taken, and tenants of one queue take turns.
--
--   controls       a queue, a kind, a key or a tenant, or several of them together, paused or limited to `most` at once
--   lanes.shared   whether jobs of a tenant were ever enqueued there: then tenants take turns
--   choose         which due jobs may be offered or taken where anything of that is so; without, no statement calls it

set local lock_timeout = '10s';  -- short of a lock it gives up, rather than have every tick wait behind it

alter table minutehand.lanes add column shared boolean not null default false;

-- A tenant's jobs of a lane, the longest due first. Where there are no tenants it is empty, and nothing pays for it.
create index jobs_live_tenant on minutehand.jobs_live (queue, priority, tenant, visible) where tenant <> '';
create index jobs_live_cancelling on minutehand.jobs_live (visible) where cancelling is not null;

create function minutehand.share_lane() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    if not exists (select from minutehand.lanes l where l.queue = new.queue and l.priority = new.priority and l.shared) then
        insert into minutehand.lanes as l (queue, priority, shared) values (new.queue, new.priority, true)
            on conflict (queue, priority) do update set shared = true where not l.shared;
    end if;
    return null;
end
$$;
create trigger a_tenants_job_shares_the_lane after insert on minutehand.jobs_live
    for each row when (new.tenant <> '') execute function minutehand.share_lane();
insert into minutehand.lanes as l (queue, priority, shared)
select distinct queue, priority, true from minutehand.jobs_live where tenant <> ''
    on conflict (queue, priority) do update set shared = true;

-- A job that is moved to another lane is found there at once. The condition is in the columns that an update names:
-- nothing of the flow names them, and so nothing of it pays.
create function minutehand.change_lane() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    insert into minutehand.lanes as l (queue, priority, floor, shared)
    values (new.queue, new.priority, least(new.visible, now() - interval '1 minute'), new.tenant <> '')
        on conflict (queue, priority) do update
       set floor = least(l.floor, excluded.floor), shared = l.shared or excluded.shared
     where l.floor > new.visible or excluded.shared and not l.shared;
    return null;
end
$$;
create trigger another_priority_is_another_lane after update of queue, priority on minutehand.jobs_live
    for each row when (old.queue <> new.queue or old.priority <> new.priority) execute function minutehand.change_lane();

-- Holds the dispatcher's row until the end of the transaction: no tick offers anything meanwhile.
create function minutehand.hold_ticks() returns void
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    select from minutehand.dispatcher for update
$$;

-- What bounds the jobs of a queue, a kind, a key or a tenant ('' is any), and how many more of them may be offered or
-- taken.
create type minutehand.bound as (tenant text, queue text, kind text, key text, free integer);

-- Whether a bound is about a job.
create function minutehand.bounds_job(bound minutehand.bound, tenant text, queue text, kind text, key text) returns boolean
language sql immutable parallel safe
as $$
    select (bound).tenant in ('', tenant) and (bound).queue in ('', queue) and (bound).kind in ('', kind)
           and (bound).key in ('', coalesce(key, ''))
$$;

-- How many jobs that a bound is about are offered or running; in plpgsql, or the planner would expect very many.
create function minutehand.busy(bound minutehand.bound) returns bigint
language plpgsql stable
as $$
begin
    return (select count(*)
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null and j.visible > now()
               and minutehand.bounds_job(bound, j.tenant, j.queue, j.kind, j.key));
end
$$;

-- The bounds that the controls are at a moment, and with them the budgets of queues.
create function minutehand.bounds(moment timestamptz, queues text[], budgets integer[], only_queue text) returns minutehand.bound[]
language sql volatile
as $$
    with busy as materialized (
        select j.tenant, j.queue, j.kind, j.key
          from minutehand.jobs_live j
         where coalesce(j.offered, j.claimed) is not null and j.visible > moment
    ), said as (
        select row(c.tenant, c.queue, c.kind, c.key, c.most)::minutehand.bound as bound,
               c.paused and (c.until is null or c.until > moment) as paused
          from minutehand.controls c
         where only_queue is null or c.queue in ('', only_queue)
        union all
        select row('', b.queue, '', '', b.budget)::minutehand.bound, false from unnest(queues, budgets) b (queue, budget)
    )
    select coalesce(array_agg(row((bound).tenant, (bound).queue, (bound).kind, (bound).key,
                                  case when paused then 0 else greatest(0, (bound).free - busy.jobs) end)::minutehand.bound), '{}')
      from said
     cross join lateral (
           select count(*)::integer as jobs
             from busy b
            where minutehand.bounds_job(said.bound, b.tenant, b.queue, b.kind, b.key)) busy
     where paused or (bound).free is not null
$$;

-- One round of choosing: the heads of the lanes, without what a bound has no room for. Each job has one place in one
-- order, so that the first of all is never held back by bounds that overlap, and each round gets on. Where tenants share
-- a queue each has its turn, whatever priority the jobs of the others have, and a round gives none more than its share.
create function minutehand.choose_round(
    room integer, moment timestamptz, bounds minutehand.bound[], chosen uuid[], only_queue text, fair boolean
) returns setof uuid
language sql volatile
as $$
    with blocked as materialized (
        select b.tenant, b.queue, b.kind, b.key from unnest(bounds) b where b.free = 0
    ), lane as materialized (
        select l.queue, l.priority, l.floor, fair and l.shared as shared
          from minutehand.lanes l
         where (only_queue is null or l.queue = only_queue)
           and not exists (select from blocked b where b.tenant = '' and b.queue in ('', l.queue) and b.kind = '' and b.key = '')
    ), tenants as materialized (
        select l.queue, l.priority, l.floor, t.tenant
          from lane l
         cross join lateral (
               with recursive t (tenant) as (
                   (select j.tenant::text
                      from minutehand.jobs_live j
                     where j.queue = l.queue and j.priority = l.priority and j.tenant <> ''
                     order by j.tenant limit 1)
                   union all
                   select (select j.tenant::text
                             from minutehand.jobs_live j
                            where j.queue = l.queue and j.priority = l.priority and j.tenant <> '' and j.tenant > t.tenant
                            order by j.tenant limit 1)
                     from t
                    where t.tenant is not null
               ) select tenant from t where tenant is not null) t
         where l.shared
    ), shares as materialized (
        select queue, greatest(1, ceil(room::numeric / (count(distinct tenant) + 1)))::bigint as most from tenants group by queue
    ), heads as materialized (
        select l.queue, l.priority, j.*
          from lane l
         cross join lateral (
               select j.id, j.visible, j.tenant::text, j.kind::text, j.key::text
                 from minutehand.jobs_live j
                where j.queue = l.queue and j.priority = l.priority and j.visible >= l.floor and j.visible <= moment
                  and j.attempts < j.max_attempts and j.cancelling is null and j.id <> all (chosen)
                  and not exists (select from blocked b
                                   where (b.kind = '' or b.kind = j.kind) and (b.queue = '' or b.queue = j.queue)
                                     and (b.key = '' or b.key = j.key) and (b.tenant = '' or b.tenant = j.tenant))
                order by j.visible
                limit room
                  for update skip locked) j
         where not l.shared
        union all
        select t.queue, t.priority, j.*
          from tenants t
          join shares s using (queue)
         cross join lateral (
               select j.id, j.visible, j.tenant::text, j.kind::text, j.key::text
                 from minutehand.jobs_live j
                where j.queue = t.queue and j.priority = t.priority and j.tenant = t.tenant and j.tenant <> ''
                  and j.visible >= t.floor and j.visible <= moment
                  and j.attempts < j.max_attempts and j.cancelling is null and j.id <> all (chosen)
                  and not exists (select from blocked b
                                   where (b.kind = '' or b.kind = j.kind) and (b.queue = '' or b.queue = j.queue)
                                     and (b.key = '' or b.key = j.key) and (b.tenant = '' or b.tenant = j.tenant))
                order by j.visible
                limit s.most
                  for update skip locked) j
        union all
        select l.queue, l.priority, j.*
          from lane l  -- of jobs that are nobody's, those at the head: to look further would be to read all of it
         cross join lateral (
               select j.id, j.visible, j.tenant::text, j.kind::text, j.key::text
                 from (select h.id
                         from minutehand.jobs_live h
                        where h.queue = l.queue and h.priority = l.priority and h.visible >= l.floor and h.visible <= moment
                        order by h.visible
                        limit greatest(room, 100)) head
                 join minutehand.jobs_live j using (id)
                where j.tenant = '' and j.visible <= moment
                  and j.attempts < j.max_attempts and j.cancelling is null and j.id <> all (chosen)
                  and not exists (select from blocked b
                                   where (b.kind = '' or b.kind = j.kind) and (b.queue = '' or b.queue = j.queue)
                                     and (b.key = '' or b.key = j.key) and (b.tenant = '' or b.tenant = j.tenant))
                order by j.visible
                limit room
                  for update of j skip locked) j
         where l.shared
    ), owned as (
        select *, row_number() over (partition by queue, case when fair then tenant end
                                     order by priority desc, visible, id) as own
          from heads
    ), turns as materialized (
        select o.*, row_number() over (partition by o.queue order by o.own, o.priority desc, o.visible, o.id) as turn
          from owned o
          left join shares s using (queue)
         where o.own <= coalesce(s.most, room)
    ), placed as (
        select t.id, b.free, row_number() over (partition by b.place order by t.turn, t.visible, t.id) as place
          from unnest(bounds) with ordinality b (tenant, queue, kind, key, free, place)
          join turns t on minutehand.bounds_job(row(b.tenant, b.queue, b.kind, b.key, b.free)::minutehand.bound,
                                                t.tenant, t.queue, t.kind, t.key)
         where b.free > 0
    )
    select t.id
      from turns t
     where not exists (select from placed p where p.id = t.id and p.place > p.free)
     order by t.turn, t.visible, t.id
     limit room
$$;

-- Which due jobs may be offered or taken, at most `room`. The limits' rows are held until the end of the transaction:
-- whoever counts against the same limit counts afterwards, in a snapshot of its own, and so no limit is ever exceeded.
create function minutehand.choose(
    room integer, moment timestamptz, queues text[] default '{}', budgets integer[] default '{}', only_queue text default null
) returns setof uuid
language plpgsql volatile rows 100 security definer set search_path = minutehand, pg_temp
as $$
declare
    bounds minutehand.bound[];
    chosen uuid[] := '{}';
    fresh  uuid[];
begin
    perform from minutehand.controls c
      where c.most is not null and (only_queue is null or c.queue in ('', only_queue))
      order by c.tenant, c.queue, c.kind, c.key
        for update;
    bounds := minutehand.bounds(moment, queues, budgets, only_queue);
    while room > 0 loop
        fresh := array(select minutehand.choose_round(room, moment, bounds, chosen, only_queue, only_queue is null));
        exit when fresh = '{}';
        chosen := chosen || fresh;
        room := room - cardinality(fresh);
        bounds := array(select row(b.tenant, b.queue, b.kind, b.key, b.free - count(j.id))::minutehand.bound
                          from unnest(bounds) b
                          left join minutehand.jobs_live j
                            on j.id = any (fresh) and minutehand.bounds_job(b, j.tenant, j.queue, j.kind, j.key)
                         group by b.tenant, b.queue, b.kind, b.key, b.free);
    end loop;
    return query select unnest(chosen);
end
$$;

-- How much is due in each queue, as `count` says it, where something is paused: that is not due. It reads through what
-- is paused, at some microseconds a job.
create function minutehand.count_unpaused(most bigint, moment timestamptz) returns table (queue text, due bigint, late interval)
language sql stable rows 10 security definer set search_path = minutehand, pg_temp
as $$
    with paused as materialized (
        select c.tenant, c.queue, c.kind, c.key
          from minutehand.controls c
         where c.paused and (c.until is null or c.until > moment)
    )
    select l.queue, least(count(*), most), moment - min(j.visible)
      from minutehand.lanes l
     cross join lateral (
           select v.visible
             from minutehand.jobs_live v
            where v.queue = l.queue and v.priority = l.priority and v.visible >= l.floor and v.visible <= moment
              and not exists (select from paused p
                               where (p.kind = '' or p.kind = v.kind) and (p.queue = '' or p.queue = v.queue)
                                 and (p.key = '' or p.key = v.key) and (p.tenant = '' or p.tenant = v.tenant))
            order by v.visible
            limit (select most)) j
     where not exists (select from paused p where p.tenant = '' and p.queue in ('', l.queue) and p.kind = '' and p.key = '')
     group by l.queue
$$;

-- The numbers of a version, one after the other, so that 1.9 is older than 1.10; a version without any is the oldest.
create function minutehand.version_numbers(version text) returns numeric[]
language sql immutable parallel safe
as $$
    select coalesce(array_agg(found[1]::numeric), '{}') from regexp_matches(coalesce(version, ''), '\d{1,100}', 'g') found
$$;

-- A payload that is not too large, or the error that says so.
create function minutehand.fitting(payload json) returns json
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    most integer := (select max_payload from minutehand.settings);
begin
    if octet_length(payload::text) > most then
        perform minutehand.refuse('payload_fits', format('payload has at most %s bytes', most));
    end if;
    return payload;
end
$$;

revoke execute on function minutehand.share_lane(), minutehand.change_lane(), minutehand.hold_ticks(),
                           minutehand.bounds(timestamptz, text[], integer[], text),
                           minutehand.choose_round(integer, timestamptz, minutehand.bound[], uuid[], text, boolean),
                           minutehand.choose(integer, timestamptz, text[], integer[], text),
                           minutehand.count_unpaused(bigint, timestamptz),
                           minutehand.bounds_job(minutehand.bound, text, text, text, text),
                           minutehand.version_numbers(text), minutehand.fitting(json) from public;
