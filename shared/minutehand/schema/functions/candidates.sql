-- Candidates: the due jobs from which `choose` selects.

-- Returns how many rows the selection may read at a time. Its cost and its delays follow from these.
create or replace function minutehand.scan_rows(of text) returns integer
language sql immutable parallel safe
as $$
    select case of
           -- At the head of a lane, and of the part of a tenant.
           when 'head' then 1000
           when 'part' then 100
           -- The newest due jobs of a stream whose head is blocked, for as many streams as `newest streams`.
           when 'newest' then 1000
           when 'newest streams' then 20
           -- In all sweeps of a tick or of a take, and in one step of a sweep.
           when 'sweep' then 50000
           when 'step' then 2000
           -- Tenants, besides those for which there is room: listed, visited in turn, and of those whose head is known to be blocked.
           when 'listed' then 1000
           when 'visits' then 200
           when 'blocked' then 50
           -- Groups of a stream, in addition to those that are busy.
           when 'groups' then 2000
           end
$$;

-- Whether a due job may be offered or taken.
create or replace function minutehand.may_start(
    attempts integer, max_attempts integer, cancelling text, expires_at timestamptz, moment timestamptz
) returns boolean
language sql immutable parallel safe
as $$
    select attempts < max_attempts and cancelling is null and (expires_at is null or expires_at > moment or attempts > 0)
$$;

-- Whether no bound without room applies to a job of a lane. `others` has the scopes that name more than one, or a key; the tenant
-- `-` is that of jobs without one.
create or replace function minutehand.has_room(
    tenant text, kind text, key text, full_kinds text[], full_tenants text[], full_others text[]
) returns boolean
language sql immutable parallel safe
as $$
    select kind <> all (full_kinds) and tenant <> all (full_tenants)
           and (full_others = '{}' or not full_others && array[
                tenant || '/' || kind || '/', '/' || kind || '/' || key, '//' || key,
                coalesce(nullif(tenant, ''), '-') || '//' || key, coalesce(nullif(tenant, ''), '-') || '/' || kind || '/' || key])
$$;

-- Returns the scopes without room in each of some queues; no row for a queue that has none itself.
create or replace function minutehand.full_scopes(in_queues text[], bounds minutehand.bound[])
returns table (queue text, kinds text[], tenants text[], others text[])
language sql stable rows 10
as $$
    with filled as materialized (
        select case when b.per = 'tenant' then b.value else b.tenant end as tenant, b.queue, b.kind, b.key
          from unnest(bounds) b
         where b.free <= 0 and b.group = '' and (b.per = '' or b.per = 'tenant' and b.value <> '')
         union all
        -- The value is `tenant/queue/key`, in which only the key may contain slashes.
        select coalesce(nullif(split_part(b.value, '/', 1), ''), '-'), split_part(b.value, '/', 2), b.kind,
               substr(b.value, length(split_part(b.value, '/', 1) || split_part(b.value, '/', 2)) + 3)
          from unnest(bounds) b
         where b.free <= 0 and b.per = 'key' and b.value <> ''
    )
    select q.queue,
           coalesce(array_agg(f.kind) filter (where f.tenant = '' and f.kind <> '' and f.key = ''), '{}'),
           coalesce(array_agg(f.tenant) filter (where f.tenant <> '' and f.kind = '' and f.key = ''), '{}'),
           coalesce(array_agg(f.tenant || '/' || f.kind || '/' || f.key)
                    filter (where f.key <> '' or f.tenant <> '' and f.kind <> ''), '{}')
      from (select distinct unnest(in_queues) as queue) q
      left join filled f on f.queue in ('', q.queue)
     group by q.queue
    having count(*) filter (where f.tenant = '' and f.kind = '' and f.key = '') = 0
$$;

-- Returns the candidates at the heads of streams, without the jobs that were tried before. Reads at most `head` rows of each.
create or replace function minutehand.heads(
    streams minutehand.stream[], moment timestamptz, bounds minutehand.bound[], tried uuid[]
) returns table (number integer, candidate minutehand.candidate)
language sql stable rows 100
as $$
    with stream as materialized (
        select s.*, f.kinds, f.tenants, f.others
          from unnest(streams) with ordinality s (queue, priority, floor, whole, part, head, most, last, number)
          join minutehand.full_scopes(array(select l.queue from unnest(streams) l), bounds) f on f.queue = s.queue
    )
    select s.number::integer, row(j.id, s.queue, s.priority, j.visible, j.tenant, j.kind, j.key, null, '')::minutehand.candidate
      from stream s
     cross join lateral (
           select r.id, r.visible, r.tenant::text, r.kind::text, coalesce(r.key, '') as key
             from (select j.*
                     from minutehand.jobs_live j
                    where j.queue = s.queue and j.priority = s.priority and j.visible >= s.floor and j.visible <= moment
                    order by j.visible, j.id
                    limit s.head + cardinality(tried)) r
            where (s.whole or r.tenant = '') and r.group is null
              and minutehand.may_start(r.attempts, r.max_attempts, r.cancelling, r.expires_at, moment)
              and minutehand.has_room(r.tenant, r.kind, coalesce(r.key, ''), s.kinds, s.tenants, s.others)
              and r.id not in (select unnest(tried))
            limit s.most) j
     where s.whole or s.part = ''
     union all
    select s.number::integer, row(j.id, s.queue, s.priority, j.visible, s.part, j.kind, j.key, null, '')::minutehand.candidate
      from stream s
     cross join lateral (
           select r.id, r.visible, r.kind::text, coalesce(r.key, '') as key
             from (select j.*
                     from minutehand.jobs_live j
                    where j.queue = s.queue and j.priority = s.priority and j.tenant = s.part and j.tenant <> ''
                      and j.visible >= s.floor and j.visible <= moment
                    order by j.visible, j.id
                    limit s.head + cardinality(tried)) r
            where r.group is null and minutehand.may_start(r.attempts, r.max_attempts, r.cancelling, r.expires_at, moment)
              and minutehand.has_room(s.part, r.kind, coalesce(r.key, ''), s.kinds, '{}', s.others)
              and r.id not in (select unnest(tried))
            limit s.most) j
     where not s.whole and s.part <> '' and s.part <> all (s.tenants)
$$;

-- Returns the candidates that still are: those for which every bound has room, without the jobs that were tried.
create or replace function minutehand.still_candidates(candidates minutehand.candidate[], bounds minutehand.bound[], tried uuid[])
returns setof minutehand.candidate
language sql stable rows 100
as $$
    select c.*
      from unnest(candidates) c
      join minutehand.full_scopes(array(select l.queue from unnest(candidates) l), bounds) f on f.queue = c.queue
     where minutehand.has_room(c.tenant, c.kind, c.key, f.kinds, f.tenants, f.others) and c.id not in (select unnest(tried))
$$;
