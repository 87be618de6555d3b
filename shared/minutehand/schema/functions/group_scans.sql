-- Scans of groups: the groups of a stream, of which `group_heads` finds the next jobs.

-- Returns the groups of a lane after one of them, up to another one, each with its first time. Reads one entry of the index for
-- each group, when the caller asks for it, and at most `steps` of them.
create or replace function minutehand.lane_groups(
    in_queue text, with_priority integer, after_tenant text, after_group text, until_tenant text, until_group text, steps integer
) returns table (tenant text, "group" text, visible timestamptz, step integer)
language sql stable rows 1000
as $$
    with recursive n (tenant, "group", visible, step) as (
        (select j.tenant::text, j.group::text, j.visible::timestamptz, 1
           from minutehand.jobs_live j
          where j.queue = in_queue and j.priority = with_priority and j.group is not null
            and (j.tenant, j.group) > (after_tenant, after_group)
          order by j.tenant, j.group, j.visible limit 1)
        union all
        select f.tenant, f.group, f.visible, n.step + 1
          from n
         cross join lateral (
               select j.tenant::text, j.group::text, j.visible::timestamptz
                 from minutehand.jobs_live j
                where j.queue = in_queue and j.priority = with_priority and j.group is not null
                  and (j.tenant, j.group) > (n.tenant, n.group)
                order by j.tenant, j.group, j.visible limit 1) f
         where n.step < steps and (until_group is null or (n.tenant, n.group) < (until_tenant, until_group)))
    select n.tenant, n.group, n.visible, n.step from n where until_group is null or (n.tenant, n.group) <= (until_tenant, until_group)
$$;

-- The same for the groups of one tenant, or with '' of none.
create or replace function minutehand.tenant_groups(
    in_queue text, with_priority integer, of_tenant text, after_group text, until_group text, steps integer
) returns table (tenant text, "group" text, visible timestamptz, step integer)
language sql stable rows 1000
as $$
    with recursive n ("group", visible, step) as (
        (select j.group::text, j.visible::timestamptz, 1
           from minutehand.jobs_live j
          where j.queue = in_queue and j.priority = with_priority and j.tenant = of_tenant and j.group is not null
            and j.group > after_group
          order by j.group, j.visible limit 1)
        union all
        select f.group, f.visible, n.step + 1
          from n
         cross join lateral (
               select j.group::text, j.visible::timestamptz
                 from minutehand.jobs_live j
                where j.queue = in_queue and j.priority = with_priority and j.tenant = of_tenant and j.group is not null
                  and j.group > n.group
                order by j.group, j.visible limit 1) f
         where n.step < steps and (until_group is null or n.group < until_group))
    select of_tenant, n.group, n.visible, n.step from n where until_group is null or n.group <= until_group
$$;

-- Returns how many due jobs of a lane are few, so that a scan reads its groups from them: as many as there is room for, but at least 100
-- and at most 1000.
create or replace function minutehand.few_due(room bigint) returns bigint
language sql immutable parallel safe
as $$
    select least(minutehand.scan_rows('head'), greatest(minutehand.scan_rows('part'), room))
$$;

-- Returns the groups of a stream from its position to the end, and then from the beginning up to the position. Of a lane with few due
-- jobs these are the groups of those jobs: while a snapshot is old, a scan of the index would pass all groups that have finished since.
create or replace function minutehand.stream_groups(stream minutehand.stream, at_tenant text, at_group text, moment timestamptz, steps integer)
returns table (tenant text, "group" text, visible timestamptz, step integer)
language sql stable rows 1000
as $$
    with due as materialized (
        select j.tenant::text, j.group::text, j.visible::timestamptz
          from minutehand.jobs_live j
         where (stream).whole and j.queue = (stream).queue and j.priority = (stream).priority
           and j.visible >= (stream).floor and j.visible <= moment
         order by j.visible, coalesce(j.id, j.id)
         limit minutehand.few_due((stream).most) + 1
    ), few as materialized (
        select (stream).whole and count(*) <= minutehand.few_due((stream).most) as yes from due
    )
    select d.tenant, d.group, min(d.visible),
           (row_number() over (order by (d.tenant, d.group) <= (at_tenant, at_group), d.tenant, d.group))::integer
      from due d
     where d.group is not null and (select yes from few)
     group by d.tenant, d.group
     union all
    select g.tenant, g.group, g.visible, g.step
      from minutehand.lane_groups((stream).queue, (stream).priority, at_tenant, at_group, null, null, steps) g
     where (stream).whole and not (select yes from few)
     union all
    select g.tenant, g.group, g.visible, steps + g.step
      from minutehand.lane_groups((stream).queue, (stream).priority, '', '', at_tenant, at_group, steps) g
     where (stream).whole and at_group <> '' and not (select yes from few)
     union all
    select g.tenant, g.group, g.visible, g.step
      from minutehand.tenant_groups((stream).queue, (stream).priority, (stream).part, at_group, null, steps) g
     where not (stream).whole
     union all
    select g.tenant, g.group, g.visible, steps + g.step
      from minutehand.tenant_groups((stream).queue, (stream).priority, (stream).part, '', at_group, steps) g
     where not (stream).whole and at_group <> ''
$$;
