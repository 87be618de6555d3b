-- Breakers: circuit breakers of groups. A breaker opens after a number of consecutive failures, and no job of the group starts. After
-- a pause it is half open: one job at a time starts, and its outcome closes the breaker or opens it again.

-- Returns the limit that declares the breaker of a group. A limit of the group precedes one per group, and one that names the
-- queue or the tenant precedes others.
create or replace function minutehand.breaker_of(in_queue text, of_tenant text, of_group text)
returns table (id bigint, break_after integer, break_for interval)
language sql stable rows 1
as $$
    select c.id, c.break_after, c.break_for
      from minutehand.controls c
     where c.break_after is not null and c.group in ('', of_group) and c.tenant in ('', of_tenant) and c.queue in ('', in_queue)
     order by c.group <> '' desc, c.queue <> '' desc, c.tenant <> '' desc
     limit 1
$$;

-- Notes the outcomes of jobs with a group. `holds` are how long their groups wait. The order in which jobs of one write ended is
-- unknown: a success resets the failures before this write, and the failures of this write count after it. Groups are changed in
-- one order, so that sessions do not deadlock. An outcome must not wait for a transaction that stays open, nor fail a completion
-- in a transaction of the handler. So it is not noted if another session keeps the group's breaker locked for a second, or has
-- changed it since this transaction's snapshot. After the first such group, no other one is waited for.
create or replace function minutehand.note_outcomes(queues text[], tenants text[], groups text[], outcomes text[], holds interval[]) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '1s'
as $$
declare
    ended record;
begin
    if not exists (select from minutehand.controls c where c.break_after is not null)
       and not exists (select from unnest(holds) h where h > interval '0')
       and not exists (select from minutehand.breakers) then
        return;
    end if;
    for ended in
        select e.*, b.break_after, b.break_for
          from (select g.queue, g.tenant, g.group, count(*) filter (where g.outcome in ('retrying', 'dead'))::integer as failures,
                       bool_or(g.outcome = 'done') as succeeded, max(g.hold) as hold
                  from unnest(queues, tenants, groups, outcomes, holds) g (queue, tenant, "group", outcome, hold)
                 group by g.queue, g.tenant, g.group) e
          left join lateral minutehand.breaker_of(e.queue, e.tenant, e.group) b on true
         order by e.queue, e.tenant, e.group
    loop
        begin
            if ended.succeeded then
                perform minutehand.note_success(ended.queue, ended.tenant, ended.group);
            end if;
            if ended.failures > 0 and ended.break_after is not null then
                perform minutehand.note_failures(ended.queue, ended.tenant, ended.group, ended.failures, ended.break_after, ended.break_for);
            end if;
            if ended.hold > interval '0' then
                insert into minutehand.breakers as b (queue, tenant, "group", slow_until)
                values (ended.queue, ended.tenant, ended.group, clock_timestamp() + ended.hold)
                    on conflict (queue, tenant, "group") do update set
                       slow_until = greatest(b.slow_until, excluded.slow_until);
            end if;
        exception
            when lock_not_available then perform set_config('lock_timeout', '1ms', true);
            when deadlock_detected or serialization_failure then null;
        end;
    end loop;
end
$$;

-- Closes the breaker of a group, unless it is open: then the job started before.
create or replace function minutehand.note_success(in_queue text, of_tenant text, of_group text) returns void
language sql volatile
as $$
    update minutehand.breakers b
       set failures = 0, opened = null, open_until = null
     where b.queue = in_queue and b.tenant = of_tenant and b.group = of_group
       and (b.failures > 0 or b.open_until is not null) and coalesce(b.open_until, '-infinity') <= clock_timestamp()
$$;

-- Counts failures of a group, and opens its breaker: after enough of them, or while it is half open.
create or replace function minutehand.note_failures(
    in_queue text, of_tenant text, of_group text, failures integer, break_after integer, break_for interval
) returns void
language sql volatile
as $$
    insert into minutehand.breakers as b (queue, tenant, "group", failures, opened, open_until)
    select in_queue, of_tenant, of_group, note_failures.failures, o.at, o.at + break_for
      from (select case when note_failures.failures >= break_after then clock_timestamp() end) o (at)
        on conflict (queue, tenant, "group") do update set
           failures = least(b.failures + excluded.failures, 1000000),
           opened = coalesce(b.opened, case when b.failures + excluded.failures >= break_after then clock_timestamp() end),
           open_until = case when b.open_until > clock_timestamp() then b.open_until
                             when b.open_until is not null or b.failures + excluded.failures >= break_after
                             then clock_timestamp() + break_for end
$$;

-- Returns until when a group waits, and whether it is half open; no row if nothing holds it back.
create or replace function minutehand.breaker_state(in_queue text, of_tenant text, of_group text, moment timestamptz)
returns table (control bigint, until timestamptz, half_open boolean)
language sql stable rows 1
as $$
    select o.id, case when h.until > moment then h.until end, coalesce(h.until <= moment, true)
      from minutehand.breakers b
      left join lateral minutehand.breaker_of(b.queue, b.tenant, b.group) o on b.open_until is not null
     -- A limit that declares no breaker any more leaves the time that RetryAfter asked for.
     cross join lateral (select case when o.id is not null then b.held_until else b.slow_until end) h (until)
     where b.queue = in_queue and b.tenant = of_tenant and b.group = of_group and (o.id is not null or h.until > moment)
$$;

-- Returns the id of the bounds of breakers.
create or replace function minutehand.breaker_bound() returns bigint
language sql immutable parallel safe
as $$
    select -1000000000::bigint
$$;

-- Returns how many jobs of a group may be offered or running: none until a time, and one while its breaker is half open; null if
-- nothing holds it back.
create or replace function minutehand.breaker_free(in_queue text, of_tenant text, of_group text, moment timestamptz) returns integer
language plpgsql stable
as $$
begin
    return (select s.half_open::integer from minutehand.breaker_state(in_queue, of_tenant, of_group, moment) s);
end
$$;

-- Returns the template of breakers, if any group is held back. What it allows is looked up for each group of a job, so that the cost
-- does not depend on the number of open breakers.
create or replace function minutehand.breaker_bounds(moment timestamptz) returns setof minutehand.bound
language sql stable rows 1
as $$
    select row(minutehand.breaker_bound(), '', '', '', '', '', 'breaker', false, '', 2147483647)::minutehand.bound
     where exists (select from minutehand.breakers b where b.open_until is not null)
        or exists (select from minutehand.breakers b where b.held_until > moment)
$$;

-- Returns groups for which no job may start yet, those that wait the longest.
create or replace function minutehand.waiting_groups(moment timestamptz) returns table (queue text, tenant text, "group" text)
language sql stable rows 100
as $$
    select b.queue, b.tenant, b.group
      from (select * from minutehand.breakers where held_until > moment order by held_until desc limit minutehand.scan_rows('listed')) b
     cross join lateral minutehand.breaker_state(b.queue, b.tenant, b.group, moment) s
     where not s.half_open
$$;
