-- Candidates: the due jobs from which `choose` selects. In SQL and stable, so that they become a part of its query.

-- Whether a due job may be offered or taken.
create or replace function minutehand.may_start(
    attempts integer, max_attempts integer, cancelling text, expires_at timestamptz, moment timestamptz
) returns boolean
language sql immutable parallel safe
as $$
    select attempts < max_attempts and cancelling is null and (expires_at is null or expires_at > moment or attempts > 0)
$$;

-- Whether no bound without room applies to a job of a lane. `others` has the scopes that name more than one, or a key.
create or replace function minutehand.has_room(
    tenant text, kind text, key text, full_kinds text[], full_tenants text[], full_others text[]
) returns boolean
language sql immutable parallel safe
as $$
    select kind <> all (full_kinds) and tenant <> all (full_tenants)
           and (full_others = '{}' or not full_others && array[
                tenant || '/' || kind || '/', tenant || '//' || key, '/' || kind || '/' || key, '//' || key,
                tenant || '/' || kind || '/' || key])
$$;

-- Returns the tenants with jobs that are due in a lane, from one tenant to the end, and then from the beginning up to that
-- tenant. Reads one entry of the index for each tenant, when the caller asks for it.
create or replace function minutehand.due_tenants(in_queue text, with_priority integer, after text, moment timestamptz)
returns table (tenant text)
language sql stable rows 1000
as $$
    select n.tenant
      from (with recursive n (tenant, visible) as (
                (select j.tenant::text, j.visible
                   from minutehand.jobs_live j
                  where j.queue = in_queue and j.priority = with_priority and j.tenant <> '' and j.tenant > after
                  order by j.tenant, j.visible limit 1)
                union all
                select f.tenant, f.visible
                  from n
                 cross join lateral (
                       select j.tenant::text, j.visible
                         from minutehand.jobs_live j
                        where j.queue = in_queue and j.priority = with_priority and j.tenant <> '' and j.tenant > n.tenant
                        order by j.tenant, j.visible limit 1) f)
            select * from n) n
     where n.visible <= moment
    union all
    select n.tenant
      from (with recursive n (tenant, visible) as (
                (select j.tenant::text, j.visible
                   from minutehand.jobs_live j
                  where j.queue = in_queue and j.priority = with_priority and j.tenant <> '' and j.tenant <= after
                  order by j.tenant, j.visible limit 1)
                union all
                select f.tenant, f.visible
                  from n
                 cross join lateral (
                       select j.tenant::text, j.visible
                         from minutehand.jobs_live j
                        where j.queue = in_queue and j.priority = with_priority and j.tenant <> '' and j.tenant > n.tenant
                          and j.tenant <= after
                        order by j.tenant, j.visible limit 1) f)
            select * from n) n
     where n.visible <= moment
$$;

-- Returns the first due jobs of each lane, without those that were tried before and those for which a bound has no room.
-- The place of a job is that of its tenant in the queue's turns, which go on after the tenant that had the last one, and
-- the share is how many jobs a tenant may have in this round. Without turns, the jobs of a queue have one place.
--
-- Of a lane that tenants share, these are the jobs at its head, if it has no others. Else they are the first jobs of as
-- many tenants as there is room for, and of the jobs without a tenant, those at the head: to find more would read the
-- whole lane.
create or replace function minutehand.candidates(
    room integer, moment timestamptz, lanes minutehand.due_lane[], bounds minutehand.bound[], tried uuid[], fair boolean
) returns table (id uuid, queue text, priority integer, visible timestamptz, tenant text, kind text, key text, place bigint, share bigint)
language sql stable rows 100
as $$
    with filled as materialized (
        select b.tenant, b.queue, b.kind, b.key from unnest(bounds) b where b.free <= 0
    ), full_queue as materialized (
        select l.queue,
               coalesce(array_agg(f.kind) filter (where f.tenant = '' and f.kind <> '' and f.key = ''), '{}') as kinds,
               coalesce(array_agg(f.tenant) filter (where f.tenant <> '' and f.kind = '' and f.key = ''), '{}') as tenants,
               coalesce(array_agg(f.tenant || '/' || f.kind || '/' || f.key)
                        filter (where f.key <> '' or f.tenant <> '' and f.kind <> ''), '{}') as others
          from (select distinct queue from unnest(lanes)) l
          left join filled f on f.queue in ('', l.queue)
         group by l.queue
        having count(*) filter (where f.tenant = '' and f.kind = '' and f.key = '') = 0
    ), lane as materialized (
        select l.queue, l.priority, l.floor, fair and l.shared as shared, coalesce(t.last, '') as last, f.kinds, f.tenants, f.others
          from unnest(lanes) l
          join full_queue f on f.queue = l.queue
          left join minutehand.turns t on t.queue = l.queue
    ), head as materialized (
        select l.queue, l.priority, false as shared, true as may_start, j.*
          from lane l
         cross join lateral (
               select j.id, j.visible, j.tenant::text, j.kind::text, coalesce(j.key, '') as key
                 from minutehand.jobs_live j
                where j.queue = l.queue and j.priority = l.priority and j.visible >= l.floor and j.visible <= moment
                  and minutehand.may_start(j.attempts, j.max_attempts, j.cancelling, j.expires_at, moment)
                  and minutehand.has_room(j.tenant, j.kind, coalesce(j.key, ''), l.kinds, l.tenants, l.others)
                  and j.id not in (select unnest(tried))
                order by j.visible
                -- Other workers may have locked some of them.
                limit (select room + case when fair then 0 else 20 end)) j
         where not l.shared
        union all
        select l.queue, l.priority, true, j.may_start and j.id not in (select unnest(tried)), j.id, j.visible, j.tenant, j.kind, j.key
          from lane l
         cross join lateral (
               select j.id, j.visible, j.tenant::text, j.kind::text, coalesce(j.key, '') as key,
                      minutehand.may_start(j.attempts, j.max_attempts, j.cancelling, j.expires_at, moment)
                      and minutehand.has_room(j.tenant, j.kind, coalesce(j.key, ''), l.kinds, l.tenants, l.others) as may_start
                 from minutehand.jobs_live j
                where j.queue = l.queue and j.priority = l.priority and j.visible >= l.floor and j.visible <= moment
                order by j.visible
                limit (select greatest(room, 100) + cardinality(tried))) j
         where l.shared
    ), deep as materialized (
        select queue, priority
          from head
         where shared
         group by queue, priority
        having count(*) >= (select greatest(room, 100) + cardinality(tried))
    ), visited as materialized (
        select l.*, t.tenant
          from deep
          join lane l using (queue, priority)
         cross join lateral (
               select d.tenant
                 from minutehand.due_tenants(l.queue, l.priority, l.last, moment) d
                cross join lateral (
                      select
                        from minutehand.jobs_live j
                       where j.queue = l.queue and j.priority = l.priority and j.tenant = d.tenant and j.tenant <> ''
                         and j.visible >= l.floor and j.visible <= moment
                         and minutehand.may_start(j.attempts, j.max_attempts, j.cancelling, j.expires_at, moment)
                         and minutehand.has_room(d.tenant, j.kind, coalesce(j.key, ''), l.kinds, '{}', l.others)
                         and j.id not in (select unnest(tried))
                       limit 1) j
                where d.tenant <> all (l.tenants)
                limit room) t
    ), entry as (
        select l.*, h.tenant, h.id, h.visible, h.kind, h.key
          from head h
          join lane l using (queue, priority)
         where h.may_start and (h.tenant = '' or (h.queue, h.priority) not in (select d.queue, d.priority from deep d))
         union all
        select v.*, null, null, null, null from visited v
    ), placed as (
        select e.*, case when fair then dense_rank() over (partition by e.queue order by e.tenant <= e.last, e.tenant) else 0 end as place
          from entry e
    ), shared as (
        select p.*, case when fair then ceil(room::numeric / max(p.place) over (partition by p.queue))::bigint else room + 20 end as share
          from placed p
    )
    select s.id, s.queue, s.priority, s.visible, s.tenant, s.kind, s.key, s.place, s.share
      from shared s
     where s.id is not null and s.place <= room
    union all
    select j.id, s.queue, s.priority, j.visible, s.tenant, j.kind, j.key, s.place, s.share
      from shared s
     cross join lateral (
           select j.id, j.visible, j.kind::text, coalesce(j.key, '') as key
             from minutehand.jobs_live j
            where j.queue = s.queue and j.priority = s.priority and j.tenant = s.tenant and j.tenant <> ''
              and j.visible >= s.floor and j.visible <= moment
              and minutehand.may_start(j.attempts, j.max_attempts, j.cancelling, j.expires_at, moment)
              and minutehand.has_room(s.tenant, j.kind, coalesce(j.key, ''), s.kinds, '{}', s.others)
              and j.id not in (select unnest(tried))
            order by j.visible
            limit s.share) j
     where s.id is null and s.place <= room
$$;
