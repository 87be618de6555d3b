-- Limits: how many more jobs may be offered or taken, and how many more may start.
--
--   a bound       from a limit, a pause or a budget. `free` is how many more jobs it allows. With `starts` it is a rate and
--                 counts jobs that start; others count the jobs that are offered or running
--   a template    a bound per group, key or tenant; `free` is what each of them has
--   a breaker     a template of all groups, for those that it holds back; see breakers.sql
--   an own bound  of one group, key or tenant, which `value` names; it has the id of its template
--
-- Rates follow the generic cell rate algorithm (GCRA, ITU-T I.371): all that a rate needs is one stored time, that at which
-- its jobs would end if they had started evenly. Sessions read and write it one after the other; see counting.sql.

-- Whether a pause applies to a job.
create or replace function minutehand.bounds_job(bound minutehand.bound, tenant text, queue text, kind text, key text, "group" text) returns boolean
language sql immutable parallel safe
as $$
    select (bound).tenant in ('', tenant) and (bound).queue in ('', queue) and (bound).kind in ('', kind)
           and (bound).key in ('', coalesce(key, '')) and (bound).group in ('', coalesce("group", ''))
           and case (bound).per when 'group' then "group" is not null when 'key' then key is not null when 'tenant' then tenant <> '' else true end
$$;

-- Returns how many jobs under a bound are offered or running. In plpgsql, because the planner would greatly
-- overestimate the cost of an SQL function.
create or replace function minutehand.busy(bound minutehand.bound) returns bigint
language plpgsql stable
as $$
begin
    return (select count(*)
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null and j.visible > now()
               and minutehand.bounds_job(bound, j.tenant, j.queue, j.kind, j.key, j.group));
end
$$;

-- Returns how many jobs a rate allows at a time; if it was replaced by a much faster one, its time may be far ahead.
create or replace function minutehand.rate_free(rate integer, period interval, burst integer, due timestamptz, moment timestamptz) returns integer
language sql immutable parallel safe
as $$
    select (burst - least(ceil(greatest(extract(epoch from due - moment), 0) * rate / extract(epoch from period)), 2000000))::integer
$$;

-- Returns the bounds at a time, from the controls and the budgets of queues, less the jobs that are offered or running.
create or replace function minutehand.bounds(moment timestamptz, queues text[], budgets integer[], only_queue text) returns minutehand.bound[]
language plpgsql volatile
as $$
declare
    most minutehand.bound[] := array(
        select row(c.id, c.tenant, c.queue, c.kind, c.key, c.group, c.per, b.starts, '', b.free)::minutehand.bound
          from minutehand.controls c
         cross join lateral (
               select false, case when c.paused and (c.until is null or c.until > moment) then 0 else c.max_running end
                union all
               select true, case when c.per = '' then minutehand.rate_free(c.rate, c.period, c.burst, (
                      select r.due from minutehand.rates r where r.control = c.id and r.value = ''), moment) else c.burst end) b (starts, free)
         where (only_queue is null or c.queue in ('', only_queue)) and b.free is not null
         union all
        select row(-n, '', b.queue, '', '', '', '', false, '', b.budget)::minutehand.bound
          from unnest(queues, budgets) with ordinality b (queue, budget, n)
         union all
        -- Tenants and keys whose rate is exhausted and that have no rate by name, so that no scan reads their jobs.
        select row(c.id, c.tenant, c.queue, c.kind, c.key, c.group, c.per, true, r.value, 0)::minutehand.bound
          from minutehand.controls c
          join minutehand.rates r on r.control = c.id
         -- A rate whose time is over has its whole burst: until they are deleted, there may be a million of these.
         where c.per in ('tenant', 'key') and r.due > moment and minutehand.rate_free(c.rate, c.period, c.burst, r.due, moment) <= 0
           and not exists (
               select from minutehand.controls n
                where n.per = '' and n.rate is not null and n.queue = c.queue and n.kind = c.kind and n.group = c.group
                  and n.tenant = case c.per when 'tenant' then r.value else c.tenant end
                  -- The value is `tenant/queue/key`.
                  and n.key = case c.per when 'key' then substr(r.value, length(split_part(r.value, '/', 1) || split_part(r.value, '/', 2)) + 3)
                                         else c.key end)
         union all
        select b from minutehand.breaker_bounds(moment) b
         union all
        -- A group without a limit runs one job at a time.
        select row(0, '', '', '', '', '', 'group', false, '', 1)::minutehand.bound);
begin
    return minutehand.bounds_left(most, array(
        select row(j.id, j.tenant, j.queue, j.kind, coalesce(j.key, ''), coalesce(j.group, ''), 0, j.visible)::minutehand.counted_job
          from minutehand.jobs_live j
         where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= (select busy_since from minutehand.dispatcher)
           and j.visible > moment), moment, false);
end
$$;

-- Returns the bounds that apply to each job. A bound that names a group, key or tenant takes the place of the template with the
-- same other names. Each job is looked up once for each combination of names that bounds have, so that the cost does not depend
-- on the number of bounds.
create or replace function minutehand.bounds_of(jobs minutehand.counted_job[], bounds minutehand.bound[])
returns table (job uuid, turn bigint, visible timestamptz, id bigint, starts boolean, value text, free integer)
language sql stable rows 1000
as $$
    with bound as materialized (
        select b.* from unnest(bounds) b where b.per = '' or b.value = ''
    ), scope as (
        select distinct b.tenant <> '' as by_tenant, b.queue <> '' as by_queue, b.kind <> '' as by_kind, b.key <> '' as by_key,
               b.group <> '' as by_group, b.per
          from bound b
    ), hit as materialized (
        select j.id as job, j.turn, j.visible, b.id, b.starts, b.per, b.free, b.queue, b.kind,
               case when b.per = 'tenant' then j.tenant else b.tenant end as tenant,
               case when b.per = 'key' then j.key else b.key end as key,
               case when b.per = 'group' then j.group else b.group end as "group",
               case b.per when 'group' then j.tenant || '/' || j.queue || '/' || j.group
                          when 'breaker' then j.tenant || '/' || j.queue || '/' || j.group
                          when 'key' then j.tenant || '/' || j.queue || '/' || j.key
                          when 'tenant' then j.tenant else '' end as value
          from scope s
         cross join unnest(jobs) j
          join bound b on b.per = s.per
                      and b.tenant = case when s.by_tenant then j.tenant else '' end
                      and b.queue = case when s.by_queue then j.queue else '' end
                      and b.kind = case when s.by_kind then j.kind else '' end
                      and b.key = case when s.by_key then j.key else '' end
                      and b.group = case when s.by_group then j.group else '' end
         where (j.tenant <> '' or not s.by_tenant) and (j.key <> '' or not s.by_key) and (j.group <> '' or not s.by_group)
           and case s.per when 'group' then j.group when 'breaker' then j.group when 'key' then j.key when 'tenant' then j.tenant else '-' end <> ''
    )
    select h.job, h.turn, h.visible, h.id, h.starts, h.value, h.free
      from hit h
     where (h.per in ('', 'breaker') or not exists (
                select from bound n
                 where n.per = '' and n.starts = h.starts and n.tenant = h.tenant and n.queue = h.queue and n.kind = h.kind
                   and n.key = h.key and n.group = h.group))
       and (h.id <> 0 or not exists (
                select from hit o where o.job = h.job and o.id <> 0 and not o.starts and o.group <> ''))
$$;

-- Returns the bounds less the given jobs, of which those of a rate count only if they start.
create or replace function minutehand.bounds_left(bounds minutehand.bound[], jobs minutehand.counted_job[], moment timestamptz, starting boolean)
returns minutehand.bound[]
language plpgsql volatile
as $$
begin
    return array(
        with counted as materialized (
            select b.id, b.starts, b.value, count(*)::integer as jobs, min(b.free) as free
              from minutehand.bounds_of(jobs, bounds) b
             where starting or not b.starts
             group by b.id, b.starts, b.value
        )
        select row(b.id, b.tenant, b.queue, b.kind, b.key, b.group, b.per, b.starts, b.value, b.free - coalesce(c.jobs, 0))::minutehand.bound
          from unnest(bounds) b
          left join counted c on c.id = b.id and c.starts = b.starts and c.value = b.value
         union all
        select row(b.id, b.tenant, b.queue, b.kind, b.key, b.group, b.per, b.starts, c.value,
                   case when b.starts or b.per = 'breaker' then minutehand.free_of(b, c.value, moment) else c.free end - c.jobs)::minutehand.bound
          from counted c
          join unnest(bounds) b on b.id = c.id and b.starts = c.starts and b.value = ''
         where c.value <> ''
           and not exists (select from unnest(bounds) o where o.id = c.id and o.starts = c.starts and o.value = c.value));
end
$$;

-- Returns how many jobs of one group, key or tenant the template of a rate or breaker allows.
create or replace function minutehand.free_of(template minutehand.bound, value text, moment timestamptz) returns integer
language plpgsql stable
as $$
begin
    if (template).per = 'breaker' then
        -- The value is `tenant/queue/group`.
        return coalesce(minutehand.breaker_free(split_part(value, '/', 2), split_part(value, '/', 1),
                                                substr(value, length(split_part(value, '/', 1) || split_part(value, '/', 2)) + 3), moment),
                        (template).free);
    end if;
    return coalesce((select minutehand.rate_free(c.rate, c.period, c.burst, r.due, moment)
                       from minutehand.rates r
                       join minutehand.controls c on c.id = r.control
                      where r.control = (template).id and r.value = free_of.value), (template).free);
end
$$;

-- Returns the jobs for which a bound has no room if the jobs before them, in the order of their turns, go first.
create or replace function minutehand.over_bounds(jobs minutehand.counted_job[], bounds minutehand.bound[], moment timestamptz) returns setof uuid
language sql stable rows 100
as $$
    with hit as materialized (
        select b.*, row_number() over (partition by b.id, b.starts, b.value order by b.turn, b.visible, b.job) as place
          from minutehand.bounds_of(jobs, bounds) b
    )
    select h.job
      from hit h
      left join unnest(bounds) o on o.id = h.id and o.starts = h.starts and o.value = h.value and h.value <> ''
     where h.place > coalesce(o.free, case when (h.starts or h.id = minutehand.breaker_bound()) and h.value <> '' then (
                select minutehand.free_of(t, h.value, moment)
                  from unnest(bounds) t where t.id = h.id and t.starts = h.starts and t.value = '') end, h.free)
$$;

-- Advances the times of rates by jobs that start. Sessions call it one after the other: each has locked the limits. Adds seconds,
-- because the length of a day depends on the session's time zone.
create or replace function minutehand.count_starts(jobs minutehand.counted_job[], bounds minutehand.bound[], moment timestamptz) returns void
language sql volatile
as $$
    insert into minutehand.rates as r (control, value, due)
    select b.id, b.value, moment + make_interval(secs => (count(*) * extract(epoch from c.period) / c.rate)::double precision)
      from minutehand.bounds_of(jobs, bounds) b
      join minutehand.controls c on c.id = b.id
     where b.starts
     group by b.id, b.value, c.period, c.rate
     order by b.id, b.value
        on conflict (control, value) do update set
           due = greatest(r.due, moment) + make_interval(secs => extract(epoch from excluded.due - moment)::double precision)
$$;

-- Counts jobs of a queue towards rates, after `choose` has locked the limits; returns the jobs.
create or replace function minutehand.count_taken(ids uuid[], in_queue text, moment timestamptz) returns uuid[]
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    rates minutehand.bound[] := array(
        select row(c.id, c.tenant, c.queue, c.kind, c.key, c.group, c.per, true, '', c.burst)::minutehand.bound
          from minutehand.controls c
         where c.rate is not null and c.queue in ('', in_queue));
begin
    if rates <> '{}' and ids <> '{}' then
        perform minutehand.count_starts(minutehand.counted_jobs(ids), rates, moment);
    end if;
    return ids;
end
$$;

-- Returns jobs as they are counted.
create or replace function minutehand.counted_jobs(ids uuid[]) returns minutehand.counted_job[]
language plpgsql volatile
as $$
begin
    return array(
        select row(j.id, j.tenant, j.queue, j.kind, coalesce(j.key, ''), coalesce(j.group, ''), 0, j.visible)::minutehand.counted_job
          from minutehand.jobs_live j
         where j.id = any (ids));
end
$$;
