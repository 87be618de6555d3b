-- Candidates: the due jobs from which `choose` selects.

-- Returns how many rows the selection and the history may read at a time. Their cost and its delays follow from these.
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
           -- In all sweeps of a tick or of a take, in those of parts of lanes together, and in one step of a sweep.
           when 'sweep' then 50000
           when 'sweep parts' then 20000
           when 'step' then 2000
           -- Tenants: listed, besides those for which there is room; visited although their head is blocked; and swept, if it is
           -- known to be.
           when 'listed' then 1000
           when 'closed' then 100
           when 'blocked' then 10
           -- Tenants that are examined for ordered groups whose first job waits.
           when 'in order' then 100
           -- Groups of a stream, in addition to those that are busy.
           when 'groups' then 2000
           -- Jobs of the minutes that the history counts at a time, and of one minute.
           when 'history' then 300000
           when 'minute' then 3000000
           end
$$;

-- Whether a due job may be offered or taken.
create or replace function minutehand.may_start(
    attempts integer, max_attempts integer, cancelling text, run_at timestamptz, expires interval, moment timestamptz
) returns boolean
language sql immutable parallel safe
as $$
    select attempts < max_attempts and cancelling is null
           and (expires is null or minutehand.expires_at(run_at, expires) > moment or attempts > 0)
$$;

-- Returns the names of the scopes that name more than one of the three, or a key, and apply to a job. The tenant `-` is that of
-- jobs without one.
create or replace function minutehand.scopes_of(tenant text, kind text, key text) returns text[]
language sql immutable parallel safe
as $$
    select array[tenant || '/' || kind || '/', '/' || kind || '/' || key, '//' || key,
                 coalesce(nullif(tenant, ''), '-') || '//' || key, coalesce(nullif(tenant, ''), '-') || '/' || kind || '/' || key]
$$;

-- Whether no bound without room applies to a job of a lane; see minutehand.full_scope.
create or replace function minutehand.has_room(tenant text, kind text, key text, kinds jsonb, tenants jsonb, others jsonb) returns boolean
language sql immutable parallel safe
as $$
    select (kinds is null or not kinds ? kind) and (tenants is null or not tenants ? tenant)
           and (others is null or not others ?| minutehand.scopes_of(tenant, kind, key))
$$;

-- Returns the names of a group among these scopes: that of its tenant, and that of all tenants.
create or replace function minutehand.group_scopes(tenant text, of_group text) returns text[]
language sql immutable parallel safe
as $$
    select array['=' || coalesce(nullif(tenant, ''), '-') || '//' || of_group, '=//' || of_group]
$$;

-- Returns the name of a scope without room that applies to a job of a tenant; null if there is none. In plpgsql: an SQL function
-- with a subquery would start a query for each job.
create or replace function minutehand.full_for(tenant text, kind text, key text, of_group text, kinds jsonb, others jsonb) returns text
language plpgsql immutable parallel safe
as $$
declare
    name text;
begin
    if kinds ? kind then
        return kind;
    elsif others is null then
        return null;
    end if;
    foreach name in array minutehand.scopes_of(tenant, kind, key) || minutehand.group_scopes(tenant, of_group) loop
        if others ? name then
            return name;
        end if;
    end loop;
    return null;
end
$$;

-- Whether none of these scopes has room. The name of a kind has no slash, those of others have.
create or replace function minutehand.are_full(names text[], kinds jsonb, others jsonb) returns boolean
language sql immutable parallel safe
as $$
    select not exists (select from unnest(names) n (name) where (kinds ? n.name or others ? n.name) is not true)
$$;

-- Returns the scopes without room in the queue of each lane; none for a queue that has no room itself.
create or replace function minutehand.full_scopes(lanes minutehand.due_lane[], bounds minutehand.bound[], moment timestamptz) returns minutehand.full_scope[]
language plpgsql stable
as $$
begin
    return array(
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
             union all
            -- The same of groups, behind `=`: those that are full, paused, or blocked by a dead job or a breaker.
            select '=' || coalesce(nullif(split_part(b.value, '/', 1), ''), '-'), split_part(b.value, '/', 2), '',
                   substr(b.value, length(split_part(b.value, '/', 1) || split_part(b.value, '/', 2)) + 3)
              from unnest(bounds) b
             where b.free <= 0 and b.per in ('group', 'breaker') and b.value <> '' and b.kind = '' and b.key = ''
             union all
            select '=' || b.tenant, b.queue, '', b.group
              from unnest(bounds) b
             where b.free <= 0 and b.per = '' and b.group <> '' and b.kind = '' and b.key = ''
             union all
            select '=' || coalesce(nullif(g.tenant, ''), '-'), g.queue, '', g.group
              from (select * from minutehand.blocked_groups limit minutehand.scan_rows('listed')) g
             where minutehand.order_of(g.queue, g.tenant, g.group) = 'block'
             union all
            select '=' || coalesce(nullif(w.tenant, ''), '-'), w.queue, '', w.group
              from minutehand.waiting_groups(moment) w
             where exists (select from unnest(lanes) l where l.shared and l.grouped)
        )
        select row(q.queue,
                   jsonb_object_agg(f.kind, true) filter (where f.tenant = '' and f.kind <> '' and f.key = ''),
                   jsonb_object_agg(f.tenant, true) filter (where f.tenant <> '' and f.kind = '' and f.key = ''),
                   jsonb_object_agg(f.tenant || '/' || f.kind || '/' || f.key, true)
                   filter (where f.key <> '' or f.tenant <> '' and f.kind <> ''))::minutehand.full_scope
          from (select distinct l.queue from unnest(lanes) l) q
          left join filled f on f.queue in ('', q.queue)
         group by q.queue
        having count(*) filter (where f.tenant = '' and f.kind = '' and f.key = '') = 0);
end
$$;

-- Returns the candidates at the heads of streams, without the jobs that were tried before. Reads at most `head` rows of each.
create or replace function minutehand.heads(
    streams minutehand.stream[], moment timestamptz, scopes minutehand.full_scope[], tried uuid[]
) returns table (number integer, candidate minutehand.candidate)
language sql stable rows 100
as $$
    with stream as materialized (
        select s.*, f.kinds, f.tenants, f.others
          from unnest(streams) with ordinality s (queue, priority, floor, whole, part, head, most, last, number)
          join unnest(scopes) f on f.queue = s.queue
    )
    select s.number::integer, row(j.id, s.queue, s.priority, j.visible, j.tenant, j.kind, j.key, null, '')::minutehand.candidate
      from stream s
     cross join lateral (
           select r.id, r.visible, r.tenant::text, r.kind::text, coalesce(r.key, '') as key
             from (select j.*
                     from minutehand.jobs_live j
                    where j.queue = s.queue and j.priority = s.priority and j.visible >= s.floor and j.visible <= moment
                    order by j.visible, coalesce(j.id, j.id)
                    limit s.head + cardinality(tried)) r
            where (s.whole or r.tenant = '') and r.group is null
              and minutehand.may_start(r.attempts, r.max_attempts, r.cancelling, r.run_at, r.expires, moment)
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
            where r.group is null and minutehand.may_start(r.attempts, r.max_attempts, r.cancelling, r.run_at, r.expires, moment)
              and minutehand.has_room(s.part, r.kind, coalesce(r.key, ''), s.kinds, null, s.others)
              and r.id not in (select unnest(tried))
            limit s.most) j
     where not s.whole and s.part <> '' and (s.tenants ? s.part) is not true
$$;

-- Returns the candidates that still are: those for which every bound has room, without the jobs that were tried.
create or replace function minutehand.still_candidates(
    candidates minutehand.candidate[], scopes minutehand.full_scope[], tried uuid[]
) returns setof minutehand.candidate
language sql stable rows 100
as $$
    select c.*
      from unnest(candidates) c
      join unnest(scopes) f on f.queue = c.queue
     where minutehand.has_room(c.tenant, c.kind, c.key, f.kinds, f.tenants, f.others) and c.id not in (select unnest(tried))
$$;
