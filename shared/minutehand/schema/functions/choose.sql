-- Choose: select the due jobs that may be offered or taken, if anything is paused or limited or tenants share a
-- queue. Otherwise no statement calls it.

-- Returns the due jobs that may be offered or taken, at most `room`. Locks the limits' rows until the
-- transaction ends: a session that counts against the same limit counts afterwards, in a new snapshot, so that
-- no limit is ever exceeded.
create or replace function minutehand.choose(
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
      where c.max_running is not null and (only_queue is null or c.queue in ('', only_queue))
      order by c.tenant, c.queue, c.kind, c.key
        for update;
    bounds := minutehand.bounds(moment, queues, budgets, only_queue);
    while room > 0 loop
        fresh := array(select minutehand.choose_round(room, moment, bounds, chosen, only_queue, only_queue is null));
        exit when fresh = '{}';
        chosen := chosen || fresh;
        room := room - cardinality(fresh);
        -- A queue's budget and its limit may be equal bounds: grouping merges them, and each job counts once.
        bounds := array(select row(b.tenant, b.queue, b.kind, b.key, b.free - count(distinct j.id))::minutehand.bound
                          from unnest(bounds) b
                          left join minutehand.jobs_live j
                            on j.id = any (fresh) and minutehand.bounds_job(b, j.tenant, j.queue, j.kind, j.key)
                         group by b.tenant, b.queue, b.kind, b.key, b.free);
    end loop;
    return query select unnest(chosen);
end
$$;

-- Runs one round: the heads of the lanes, without those for which a bound has no room. All jobs have a place
-- in one order, so that overlapping bounds never hold back the first of them, and each round makes progress.
-- Tenants that share a queue take turns, whatever the priority of the others' jobs, and a round gives no
-- tenant more than its share.
create or replace function minutehand.choose_round(
    room integer, moment timestamptz, bounds minutehand.bound[], chosen uuid[], only_queue text, fair boolean
) returns setof uuid
language sql volatile
as $$
    with blocked as materialized (
        select b.tenant, b.queue, b.kind, b.key from unnest(bounds) b where b.free <= 0
    ), lane as materialized (
        select l.queue, l.priority, l.floor, fair and l.shared as shared
          from minutehand.due_lanes(moment) l
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
        select queue, greatest(1, ceil(room::numeric / (count(distinct tenant) + 1)))::bigint as share from tenants group by queue
    ), heads as materialized (
        select l.queue, l.priority, j.*
          from lane l
         cross join lateral (
               select j.id, j.visible, j.tenant::text, j.kind::text, j.key::text
                 from minutehand.jobs_live j
                where j.queue = l.queue and j.priority = l.priority and j.visible >= l.floor and j.visible <= moment
                  and j.attempts < j.max_attempts and j.cancelling is null
                  and (j.expires_at is null or j.expires_at > moment or j.attempts > 0) and j.id <> all (chosen)
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
                  and j.attempts < j.max_attempts and j.cancelling is null
                  and (j.expires_at is null or j.expires_at > moment or j.attempts > 0) and j.id <> all (chosen)
                  and not exists (select from blocked b
                                   where (b.kind = '' or b.kind = j.kind) and (b.queue = '' or b.queue = j.queue)
                                     and (b.key = '' or b.key = j.key) and (b.tenant = '' or b.tenant = j.tenant))
                order by j.visible
                limit s.share
                  for update skip locked) j
        union all
        select l.queue, l.priority, j.*
          -- Of the jobs without a tenant, only those at the head: finding more would read the whole lane.
          from lane l
         cross join lateral (
               select j.id, j.visible, j.tenant::text, j.kind::text, j.key::text
                 from (select h.id
                         from minutehand.jobs_live h
                        where h.queue = l.queue and h.priority = l.priority and h.visible >= l.floor and h.visible <= moment
                        order by h.visible
                        limit greatest(room, 100)) head
                 join minutehand.jobs_live j using (id)
                where j.tenant = '' and j.visible <= moment
                  and j.attempts < j.max_attempts and j.cancelling is null
                  and (j.expires_at is null or j.expires_at > moment or j.attempts > 0) and j.id <> all (chosen)
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
         where o.own <= coalesce(s.share, room)
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
