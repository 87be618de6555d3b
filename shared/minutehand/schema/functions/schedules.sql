-- Schedules: one row in the ledger and one job for each occurrence, written together, so that no occurrence fires
-- twice.

-- Writes occurrences into the ledger `firings` and enqueues a job for each that was new; returns those. Each item
-- is {tenant, schedule, nominal, outcome, count, late, job}; `job` holds values that the schedule's own job
-- does not set.
--
-- The ledger's primary key makes this safe for two dispatchers, a repeated tick, a clock that is set back, and
-- a schedule restored from a backup.
create or replace function minutehand.fire(firings json)
returns table (tenant text, schedule text, nominal timestamptz, outcome text, job uuid)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
#variable_conflict use_column
declare
    firing record;
    item   minutehand.new_jobs;
    items  minutehand.new_jobs[] := '{}';
begin
    for firing in
        select f.*, s.job as template, s.zone
          from rows from (json_to_recordset(fire.firings) as (tenant text, schedule text, nominal timestamptz, outcome text,
                                                              count integer, late boolean, job json))
               with ordinality as f (tenant, schedule, nominal, outcome, count, late, job, ordinal)
          join minutehand.schedules s on s.tenant = f.tenant and s.name = f.schedule
         where (select minutehand.tenant_scope()) in ('', f.tenant)
         order by f.ordinal
    loop
        insert into minutehand.firings (tenant, schedule, nominal, outcome, count)
        values (firing.tenant, firing.schedule, firing.nominal, firing.outcome, firing.count)
            on conflict do nothing;
        continue when not found;
        if firing.outcome not in ('fired', 'requested') then
            tenant := firing.tenant; schedule := firing.schedule; nominal := firing.nominal; outcome := firing.outcome;
            return next;
            continue;
        end if;
        -- A stored template may have any fields.
        item := json_populate_record(json_populate_record(null::minutehand.new_jobs, firing.job),
                                     (select json_object_agg(name, value) from json_each(firing.template) e (name, value)
                                       where name <> all (minutehand.not_in_template())));
        item.ordinal := firing.ordinal; item.tenant := firing.tenant; item.schedule := firing.schedule; item.nominal := firing.nominal;
        if firing.late then
            item.headers := coalesce(item.headers, '{}') || '{"minutehand-late": "true"}';
        end if;
        items := items || item;
    end loop;
    if cardinality(items) = 0 then
        return;
    end if;
    return query
    with enqueued as (
        select i.tenant, i.schedule, i.nominal, e.id
          from minutehand.enqueue_all(items) e
          join unnest(items) i on i.ordinal = e.ordinal
    )
    update minutehand.firings f
       set job = enqueued.id
      from enqueued
     where f.tenant = enqueued.tenant and f.schedule = enqueued.schedule and f.nominal = enqueued.nominal
    returning f.tenant::text, f.schedule::text, f.nominal, f.outcome::text, f.job;
end
$$;

-- Fires at a tick, which waits for a transaction that keeps a key for so many milliseconds, and then gets SQLSTATE 55P03.
create or replace function minutehand.fire_at_tick(firings json, lock_wait integer)
returns table (tenant text, schedule text, nominal timestamptz, outcome text, job uuid)
language plpgsql volatile set lock_timeout = '1s'
as $$
begin
    perform set_config('lock_timeout', lock_wait::text, true);
    return query select * from minutehand.fire(fire_at_tick.firings);
end
$$;

-- Cancels the jobs that a schedule enqueued ahead of their occurrence, except running ones: the schedule was
-- changed, paused or deleted.
create or replace function minutehand.withdraw_ahead(of_tenant text, of_schedule text, moment timestamptz) returns bigint
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    withdrawn bigint;
begin
    with cancelled_jobs as (
        update minutehand.jobs j
           set deleted = clock_timestamp(), failed = true, cancelled = true,
               error = '{"type": "Cancelled", "message": "its schedule was changed, paused or deleted"}'
          from minutehand.firings f
         where f.tenant = of_tenant and f.schedule = of_schedule and f.nominal > moment and f.outcome = 'fired'
           and (select minutehand.tenant_scope()) in ('', f.tenant)
           and j.deleted is null and j.id = f.job and minutehand.state(j, clock_timestamp()) <> 'running'
        returning j.id
    )
    delete from minutehand.firings f
     using cancelled_jobs
     where f.tenant = of_tenant and f.schedule = of_schedule and f.nominal > moment and f.job = cancelled_jobs.id;
    get diagnostics withdrawn = row_count;
    return withdrawn;
end
$$;
