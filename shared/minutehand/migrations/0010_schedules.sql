-- Schedules: a moment becomes a line of the ledger and a job at once, so that none fires twice.

-- Writes moments into the ledger, and enqueues a job for each that was not in it; says which those were. Each is of
-- {tenant, schedule, nominal, outcome, count, late, job}, where `job` is what the schedule's job gets beside its own.
--
-- Two dispatchers, a tick that is repeated, a clock that is set back and a schedule restored from a backup all meet
-- the ledger's primary key here.
create function minutehand.fire(firings json)
returns table (tenant text, schedule text, nominal timestamptz, outcome text, job uuid)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
#variable_conflict use_column
declare
    asked record;
    item  minutehand.new_job;
    items minutehand.new_job[] := '{}';
begin
    for asked in
        select f.*, s.job as template, s.zone
          from rows from (json_to_recordset(fire.firings) as (tenant text, schedule text, nominal timestamptz, outcome text,
                                                              count integer, late boolean, job json))
               with ordinality as f (tenant, schedule, nominal, outcome, count, late, job, ordinal)
          join minutehand.schedules s on s.tenant = f.tenant and s.name = f.schedule
         where minutehand.current_tenant() in ('', f.tenant)
         order by f.ordinal
    loop
        insert into minutehand.firings (tenant, schedule, nominal, outcome, count)
        values (asked.tenant, asked.schedule, asked.nominal, asked.outcome, asked.count)
            on conflict do nothing;
        continue when not found;
        if asked.outcome not in ('fired', 'asked') then
            tenant := asked.tenant; schedule := asked.schedule; nominal := asked.nominal; outcome := asked.outcome;
            return next;
            continue;
        end if;
        item := json_populate_record(json_populate_record(null::minutehand.new_job, asked.job), asked.template);
        item.ordinal := asked.ordinal; item.tenant := asked.tenant; item.schedule := asked.schedule; item.nominal := asked.nominal;
        if asked.late then
            item.headers := coalesce(item.headers, '{}') || '{"minutehand-late": "true"}';
        end if;
        items := items || item;
    end loop;
    if cardinality(items) = 0 then
        return;
    end if;
    return query
    with made as (
        select i.tenant, i.schedule, i.nominal, e.id
          from minutehand.enqueue_all(items) e
          join unnest(items) i on i.ordinal = e.ordinal
    )
    update minutehand.firings f
       set job = made.id
      from made
     where f.tenant = made.tenant and f.schedule = made.schedule and f.nominal = made.nominal
    returning f.tenant::text, f.schedule, f.nominal, f.outcome, f.job;
end
$$;

-- Takes back what a schedule enqueued ahead of its moment, unless it runs: the schedule is changed, paused or removed.
create function minutehand.withdraw_ahead(of_tenant text, of_schedule text, moment timestamptz) returns bigint
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    withdrawn bigint;
begin
    with gone as (
        update minutehand.jobs j
           set deleted = clock_timestamp(), failed = true, cancelled = true,
               error = '{"type": "Cancelled", "message": "its schedule was changed, paused or removed"}'
          from minutehand.firings f
         where f.tenant = of_tenant and f.schedule = of_schedule and f.nominal > moment and f.outcome = 'fired'
           and minutehand.current_tenant() in ('', f.tenant)
           and j.deleted is null and j.id = f.job and minutehand.state(j, clock_timestamp()) <> 'running'
        returning j.id
    )
    delete from minutehand.firings f
     using gone
     where f.tenant = of_tenant and f.schedule = of_schedule and f.nominal > moment and f.job = gone.id;
    get diagnostics withdrawn = row_count;
    return withdrawn;
end
$$;

revoke execute on function minutehand.fire(json), minutehand.withdraw_ahead(text, text, timestamptz) from public;
