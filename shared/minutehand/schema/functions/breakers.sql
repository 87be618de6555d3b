-- Breakers: circuit breakers of groups. A breaker opens after a number of consecutive failures, and no job of the group starts. After
-- a pause it is half open: one job at a time starts, and its outcome closes the breaker or opens it again.

-- Returns the limit that declares the breaker of a group. A limit of the group precedes one per group, and one that names the
-- queue or the tenant precedes others.
create or replace function minutehand.breaker_of(in_queue text, of_tenant text, of_group text)
returns table (id bigint, break_after integer, break_for interval)
language sql stable rows 1 security definer set search_path = minutehand, pg_temp
as $$
    select c.id, c.break_after, c.break_for
      from minutehand.controls c
     where c.break_after is not null and c.tenant in ('', of_tenant) and c.queue in ('', in_queue)
       and (c.per = 'group' or c.per = '' and c.group = of_group)
     order by c.group <> '' desc, c.queue <> '' desc, c.tenant <> '' desc
     limit 1
$$;

-- Notes the outcomes of jobs with a group. `holds` are how long their groups wait. The outcome of a job that started before the
-- breaker opened changes nothing while it is open. Groups are changed in one order, so that sessions do not deadlock.
create or replace function minutehand.note_outcomes(queues text[], tenants text[], groups text[], outcomes text[], holds interval[]) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    moment timestamptz := clock_timestamp();
    ended  record;
begin
    if not exists (select from minutehand.controls c where c.break_after is not null)
       and not exists (select from unnest(holds) h where h > interval '0')
       and not exists (select from minutehand.breakers) then
        return;
    end if;
    for ended in
        select e.*, b.break_after, b.break_for
          from (select g.queue, g.tenant, g.group, count(*) filter (where g.outcome in ('retrying', 'dead')) as failures,
                       bool_or(g.outcome = 'done') as succeeded, max(g.hold) as hold
                  from unnest(queues, tenants, groups, outcomes, holds) g (queue, tenant, "group", outcome, hold)
                 group by g.queue, g.tenant, g.group) e
          left join lateral minutehand.breaker_of(e.queue, e.tenant, e.group) b on true
         order by e.queue, e.tenant, e.group
    loop
        if ended.succeeded then
            update minutehand.breakers b
               set failures = 0, open_until = null, changed = moment
             where (b.queue, b.tenant, b.group) = (ended.queue, ended.tenant, ended.group)
               and (b.open_until is null or b.open_until <= moment);
        elsif ended.failures > 0 and ended.break_after is not null then
            insert into minutehand.breakers as b (queue, tenant, "group", failures, open_until)
            values (ended.queue, ended.tenant, ended.group, ended.failures,
                    case when ended.failures >= ended.break_after then moment + ended.break_for end)
                on conflict (queue, tenant, "group") do update set
                   failures = least(b.failures + excluded.failures, 1000000), changed = moment,
                   open_until = case when b.open_until > moment then b.open_until
                                     when b.open_until is not null or b.failures + excluded.failures >= ended.break_after
                                     then moment + ended.break_for end;
        end if;
        if ended.hold > interval '0' then
            insert into minutehand.breakers as b (queue, tenant, "group", slow_until)
            values (ended.queue, ended.tenant, ended.group, moment + ended.hold)
                on conflict (queue, tenant, "group") do update set
                   slow_until = greatest(b.slow_until, excluded.slow_until), changed = moment;
        end if;
    end loop;
end
$$;

-- Returns the groups that breakers hold back: `free` is 0 until a time, and 1 while a breaker is half open.
create or replace function minutehand.held_groups(moment timestamptz, only_queue text)
returns table (queue text, tenant text, "group" text, control bigint, free integer, until timestamptz)
language sql stable rows 10
as $$
    select b.queue, b.tenant, b.group, o.id, case when h.until > moment then 0 else 1 end, h.until
      from minutehand.breakers b
      left join lateral minutehand.breaker_of(b.queue, b.tenant, b.group) o on b.open_until is not null
     cross join lateral (select greatest(b.slow_until, case when o.id is not null then b.open_until end)) h (until)
     where coalesce(b.open_until, b.slow_until) is not null and (only_queue is null or b.queue = only_queue)
       and (h.until > moment or o.id is not null)
$$;

-- Returns the breakers as bounds: a template for all groups, which allows any number of jobs, and one of each group that is held.
create or replace function minutehand.breaker_bounds(moment timestamptz, only_queue text) returns setof minutehand.bound
language sql stable rows 10
as $$
    with held as materialized (select * from minutehand.held_groups(moment, only_queue))
    select row(-1000000000, '', '', '', '', '', 'breaker', false, h.tenant || '/' || h.queue || '/' || h.group, h.free)::minutehand.bound
      from held h
     union all
    select row(-1000000000, '', '', '', '', '', 'breaker', false, '', 2147483647)::minutehand.bound where exists (select from held)
$$;
