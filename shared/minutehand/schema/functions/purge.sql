-- Deletion of jobs by operators and tenants, who have no direct writes; see updates.sql.

-- Deletes upcoming jobs.
create or replace function minutehand.delete_jobs(ids uuid[])
returns table (id uuid, queue text, kind text, key text, attempts integer, max_attempts integer, tenant text, batch uuid, awaited boolean)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with gone as (
        delete from minutehand.jobs j
         where j.deleted is null and j.id = any (delete_jobs.ids) and minutehand.state(j, clock_timestamp()) <> 'running'
           and (select minutehand.tenant_scope()) in ('', j.tenant)
        returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant, j.batch, j.awaited or minutehand.is_awaited(j.id) as awaited
    ), counted as (
        select minutehand.count_ends(array_agg(batch), array_agg(g.id), array_agg('deleted'::text))
          from gone g where batch is not null having count(*) > 0
    ), released as (
        select minutehand.release_deleted(array_agg(g.id)) from gone g where g.awaited having count(*) > 0
    )
    select id, queue, kind, key, attempts, max_attempts, tenant, batch, awaited from gone
     where (select count(*) from counted) + (select count(*) from released) >= 0
$$;

-- Deletes up to `max_jobs` upcoming jobs of a queue. Skips jobs that another session has locked.
create or replace function minutehand.delete_upcoming(of_queue text, max_jobs integer) returns table (id uuid, batch uuid, awaited boolean)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with few as materialized (
        select j.id
          from minutehand.jobs j
         where j.deleted is null and j.queue = of_queue and minutehand.state(j, clock_timestamp()) <> 'running'
           and (select minutehand.tenant_scope()) in ('', j.tenant)
         limit max_jobs
           for update skip locked
    ), gone as (
        delete from minutehand.jobs j where j.deleted is null and j.id = any (array(select f.id from few f)) returning j.id, j.batch, j.awaited or minutehand.is_awaited(j.id) as awaited
    ), counted as (
        select minutehand.count_ends(array_agg(batch), array_agg(g.id), array_agg('deleted'::text))
          from gone g where batch is not null having count(*) > 0
    ), released as (
        select minutehand.release_deleted(array_agg(g.id)) from gone g where g.awaited having count(*) > 0
    )
    select g.id, g.batch, g.awaited from gone g where (select count(*) from counted) + (select count(*) from released) >= 0
$$;

-- Deletes up to `max_jobs` of the jobs that finished before a time.
create or replace function minutehand.delete_finished(before timestamptz, of_queue text, of_kind text, states text[], max_jobs integer)
returns table (id uuid)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with old as materialized (
        select j.id, j.deleted
          from minutehand.jobs j
         where j.deleted is not null and j.deleted < before
           and (of_queue is null or j.queue = of_queue)
           and (of_kind is null or j.kind = of_kind)
           and (states is null or minutehand.state(j) = any (states))
           and (select minutehand.tenant_scope()) in ('', j.tenant)
         limit max_jobs
    )
    delete from minutehand.jobs j
     where j.deleted is not null and j.deleted = any (array(select o.deleted from old o)) and j.id = any (array(select o.id from old o))
    returning j.id
$$;
