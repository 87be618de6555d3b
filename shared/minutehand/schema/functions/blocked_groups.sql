-- Blocked groups: ordered groups that wait, because one of their jobs is dead.

-- Lets a group continue that dead jobs block, or that waits because a handler raised RetryAfter. Returns these jobs, and a null for
-- the wait.
create or replace function minutehand.unblock(in_queue text, of_tenant text, of_group text) returns setof uuid
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with unblocked as (
        delete from minutehand.blocked_groups g
         where g.queue = in_queue and g.tenant = of_tenant and g.group = of_group
           and (select minutehand.tenant_scope()) in ('', g.tenant)
        returning g.job
    ), continued as (
        update minutehand.breakers b
           set slow_until = null
         where b.queue = in_queue and b.tenant = of_tenant and b.group = of_group and b.slow_until > clock_timestamp()
           and (select minutehand.tenant_scope()) in ('', b.tenant)
        returning null::uuid as job
    )
    select u.job from unblocked u
     union all
    select c.job from continued c
$$;

-- Returns up to 1000 of the groups that a dead job blocks, of the tenants that may be read.
create or replace function minutehand.some_blocked_groups() returns table (queue text, tenant text, "group" text)
language sql stable rows 100 security definer set search_path = minutehand, pg_temp
as $$
    select b.queue::text, b.tenant::text, b.group::text
      from (select g.queue, g.tenant, g.group
              from minutehand.blocked_groups g
             where (select minutehand.read_scope()) in ('', g.tenant)
             limit 1000) b
     where minutehand.order_of(b.queue, b.tenant, b.group) = 'block'
$$;

-- Forgets the blocks of groups whose order no limit declares any more, and those of which neither the dead job nor another one
-- exists. Examines up to `rows` blocks, those first that were examined the longest ago.
-- Forgets also where scans of groups ended that no tick has made for a day; and, once a day, breakers that hold nothing back and
-- count no failures, or whose groups have no jobs.
create or replace function minutehand.prune_groups(moment timestamptz, rows integer) returns void
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with examined as materialized (
        select g.*
          from minutehand.blocked_groups g
         order by g.examined
         limit rows
           for update skip locked
    ), judged as materialized (
        select e.queue, e.tenant, e.group, e.job,
               minutehand.order_of(e.queue, e.tenant, e.group) is distinct from 'block'
               or not exists (select from minutehand.jobs_live j
                               where j.queue = e.queue and j.tenant = e.tenant and j.group = e.group)
                  and not exists (select from minutehand.jobs_done d where d.deleted = e.at and d.id = e.job) as over
          from examined e
    ), unblocked as (
        delete from minutehand.blocked_groups g
         using judged u
         where u.over and (g.queue, g.tenant, g.group, g.job) = (u.queue, u.tenant, u.group, u.job)
    ), noted as (
        update minutehand.blocked_groups g
           set examined = moment
          from judged u
         where not u.over and (g.queue, g.tenant, g.group, g.job) = (u.queue, u.tenant, u.group, u.job)
    ), judged_breakers as materialized (
        select b.queue, b.tenant, b.group,
               coalesce(b.held_until, moment) <= moment
               and (b.failures = 0 and b.open_until is null
                    or not exists (select from minutehand.jobs_live j
                                    where j.queue = b.queue and j.tenant = b.tenant and j.group = b.group)) as over
          from (select *
                  from minutehand.breakers
                 where examined < moment - interval '1 day'
                 order by examined
                 limit rows
                   for update skip locked) b
    ), forgotten as (
        delete from minutehand.breakers b
         using judged_breakers u
         where u.over and (b.queue, b.tenant, b.group) = (u.queue, u.tenant, u.group)
    ), examined_breakers as (
        update minutehand.breakers b
           set examined = moment
          from judged_breakers u
         where not u.over and (b.queue, b.tenant, b.group) = (u.queue, u.tenant, u.group)
    )
    delete from minutehand.group_turns
     where ctid = any (array(select t.ctid
                               from minutehand.group_turns t
                              where t.at < moment - interval '1 day'
                              limit rows
                                for update skip locked))
$$;
