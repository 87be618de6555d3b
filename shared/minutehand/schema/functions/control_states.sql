-- The state of controls: what they count, which groups they hold back, and when a rate allows the next start.

-- Returns the time from which a rate allows a start.
create or replace function minutehand.rate_free_at(rate integer, period interval, burst integer, due timestamptz) returns timestamptz
language sql immutable parallel safe
as $$
    select due - make_interval(secs => ((burst - 1) * extract(epoch from period) / rate)::double precision)
$$;

-- Returns the state of each pause and limit that the session's tenant may see. `busy` is the number of jobs offered or running under
-- it; for a limit per group, key or tenant, that of the one with most of them, and "full" is how many of these have no room.
-- `free_at` is when an exhausted rate allows the next start, or an open breaker a probe, and the first of these times if there are
-- several. "open" is how many groups have a breaker that is open or half open, of the first 10,000.
create or replace function minutehand.control_states(moment timestamptz)
returns table (id bigint, busy bigint, "full" bigint, free_at timestamptz, "open" bigint)
language sql stable rows 10 security definer set search_path = minutehand, pg_temp
as $$
    with control as materialized (
        select c.* from minutehand.controls c where (select minutehand.read_scope()) in ('', c.tenant) and (c.limited or c.paused)
    ), used as materialized (
        select b.id, b.starts, b.value, count(*) as jobs
          from minutehand.bounds_of(
               array(select row(j.id, j.tenant, j.queue, j.kind, coalesce(j.key, ''), coalesce(j.group, ''), 0, j.visible)::minutehand.counted_job
                       from minutehand.jobs_live j
                      where coalesce(j.offered, j.claimed) is not null and j.visible > moment),
               -- Without a value of `starts`, a bound takes the place of none.
               array(select row(c.id, c.tenant, c.queue, c.kind, c.key, c.group, c.per, v.starts, '', 0)::minutehand.bound
                       from control c
                      cross join lateral (values (null, c.per = ''), (false, c.max_running is not null or c.per <> '' and c.rate is null),
                                                 (true, c.rate is not null)) v (starts, counts)
                      where v.counts)) b
         group by b.id, b.starts, b.value
    ), exhausted as materialized (
        select c.id, r.value, minutehand.rate_free_at(c.rate, c.period, c.burst, r.due) as free_at
          from control c
          join minutehand.rates r on r.control = c.id and r.due > moment
         where minutehand.rate_free(c.rate, c.period, c.burst, r.due, moment) <= 0
    ), held as materialized (
        select o.id, b.tenant || '/' || b.queue || '/' || b.group as value, case when b.held_until > moment then b.held_until end as free_at
          from (select * from minutehand.breakers where open_until is not null order by open_until desc limit 10000) b
         cross join lateral minutehand.breaker_of(b.queue, b.tenant, b.group) o
    ), waiting as materialized (
        select w.id, min(w.free_at) as free_at, count(*) filter (where w.is_breaker) as open
          from (select e.id, e.free_at, false as is_breaker from exhausted e
                 union all
                select h.id, h.free_at, true from held h) w
         group by w.id
    ), filled as materialized (
        select v.id, count(*) as values
          from (select u.id, u.value from used u join control c on c.id = u.id and u.jobs >= c.max_running where not u.starts
                 union
                select e.id, e.value from exhausted e
                 union
                select h.id, h.value from held h where h.free_at is not null) v
         group by v.id
    )
    select c.id, coalesce(u.busy, 0), case when c.per <> '' then coalesce(f.values, 0) end, w.free_at,
           case when c.break_after is not null then coalesce(w.open, 0) end
      from control c
      left join lateral (
           select max(u.jobs) as busy
             from used u
            where u.id = c.id and u.starts is not distinct from case when c.per <> '' then c.max_running is null and c.rate is not null end
           ) u on true
      left join waiting w on w.id = c.id
      left join filled f on f.id = c.id
$$;

-- Returns the state of a group of a tenant that the session may see. `busy` is how many of its jobs are offered or running, `until` is when its breaker, or RetryAfter, allows the next start,
-- "dead" the job that blocks it, and "first" the job that comes first if it runs in order.
create or replace function minutehand.group_state(in_queue text, of_tenant text, of_group text, moment timestamptz)
returns table (busy bigint, until timestamptz, half_open boolean, failures integer, opened timestamptz, slow_until timestamptz,
               "dead" uuid, dead_since timestamptz, "first" uuid, first_visible timestamptz)
language sql stable rows 1 security definer set search_path = minutehand, pg_temp
as $$
    select (select count(*)
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null and j.visible > moment
               and j.queue = in_queue and j.tenant = of_tenant and j.group = of_group),
           s.until, coalesce(s.half_open, false), coalesce(b.failures, 0), case when s.control is not null then b.opened end, b.slow_until,
           g.job, g.at, f.id, f.visible
      from minutehand.order_of(in_queue, of_tenant, of_group) o (on_dead)
      left join minutehand.breakers b on b.queue = in_queue and b.tenant = of_tenant and b.group = of_group
      left join lateral minutehand.breaker_state(in_queue, of_tenant, of_group, moment) s on true
      left join lateral (
           select *
             from minutehand.blocked_groups g
            where o.on_dead = 'block' and g.queue = in_queue and g.tenant = of_tenant and g.group = of_group
            order by g.job
            limit 1) g on true
      left join lateral (
           select j.id, j.visible
             from minutehand.jobs_live j
            where o.on_dead is not null and j.queue = in_queue and j.tenant = of_tenant and j.group = of_group
              and not (coalesce(j.offered, j.claimed) is not null and j.visible > moment)
            order by j.run_at, j.id
            limit 1) f on true
     where (select minutehand.read_scope()) in ('', of_tenant)
$$;

-- Returns groups that RetryAfter holds back, of the tenants that the session may see, those that wait the longest.
create or replace function minutehand.retry_holds(max_groups integer) returns table (queue text, tenant text, "group" text, held_until timestamptz)
language sql stable rows 10 security definer set search_path = minutehand, pg_temp
as $$
    select b.queue, b.tenant, b.group, b.slow_until
      from minutehand.breakers b
     where b.held_until > clock_timestamp() and b.slow_until > clock_timestamp() and (select minutehand.read_scope()) in ('', b.tenant)
     order by b.slow_until desc, b.queue, b.tenant, b.group
     limit max_groups
$$;

-- Returns when an exhausted rate allows the next start of a job, which belongs to the group, key or tenant; null if it allows one now.
create or replace function minutehand.next_start(control bigint, of_tenant text, in_queue text, of_key text, of_group text, moment timestamptz)
returns timestamptz
language sql stable security definer set search_path = minutehand, pg_temp
as $$
    select minutehand.rate_free_at(c.rate, c.period, c.burst, r.due)
      from minutehand.controls c
      join minutehand.rates r on r.control = c.id
                             and r.value = case c.per when 'group' then of_tenant || '/' || in_queue || '/' || of_group
                                                      when 'key' then of_tenant || '/' || in_queue || '/' || of_key
                                                      when 'tenant' then of_tenant else '' end
     where c.id = control and (select minutehand.read_scope()) in ('', c.tenant)
       and minutehand.rate_free(c.rate, c.period, c.burst, r.due, moment) <= 0
$$;

-- Returns how many jobs under a bound per group, key or tenant are offered or running that have the same one. In plpgsql, as `busy`.
create or replace function minutehand.busy_alike(bound minutehand.bound, of_tenant text, in_queue text, of_key text, of_group text)
returns bigint
language plpgsql stable
as $$
begin
    return (select count(*)
              from minutehand.jobs_live j
             where coalesce(j.offered, j.claimed) is not null and j.visible > now() and j.tenant = of_tenant
               and minutehand.bounds_job(bound, j.tenant, j.queue, j.kind, j.key, j.group)
               and case (bound).per when 'group' then j.queue = in_queue and j.group = of_group
                                    when 'key' then j.queue = in_queue and j.key = of_key else true end);
end
$$;
