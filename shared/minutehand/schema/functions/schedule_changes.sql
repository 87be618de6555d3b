-- Changes of schedules by people and by code that declares them; no role but the dispatcher's has direct writes.
-- Each function changes schedules of the session's tenant only.

-- Returns the tenant whose schedules the session may change; '' without tenants.
create or replace function minutehand.schedule_tenant() returns text
language plpgsql stable
as $$
declare
    scope text := minutehand.tenant_scope();
begin
    if scope = '-' then
        perform minutehand.refuse('tenant_is_set');
    end if;
    return scope;
end
$$;

-- Creates or changes a schedule; its last firing is kept.
create or replace function minutehand.save_schedule(
    of_name text, every text, zone text, starts timestamptz, ends timestamptz, jitter interval, ahead interval, catch_up text,
    max_catch_up integer, overlap text, job json, source text, hash text, next timestamptz, wake timestamptz
) returns minutehand.schedules
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    insert into minutehand.schedules as s
           (tenant, name, every, zone, starts, ends, jitter, ahead, catch_up, max_catch_up, overlap, job, source, hash, next, wake)
    values (minutehand.schedule_tenant(), of_name, save_schedule.every, save_schedule.zone, save_schedule.starts,
            save_schedule.ends, save_schedule.jitter, save_schedule.ahead, save_schedule.catch_up, save_schedule.max_catch_up,
            save_schedule.overlap, minutehand.schedule_job(save_schedule.job), save_schedule.source, save_schedule.hash,
            save_schedule.next, save_schedule.wake)
        on conflict (tenant, name) do update
       set every = excluded.every, zone = excluded.zone, starts = excluded.starts, ends = excluded.ends,
           jitter = excluded.jitter, ahead = excluded.ahead, catch_up = excluded.catch_up, max_catch_up = excluded.max_catch_up,
           overlap = excluded.overlap, job = excluded.job, source = excluded.source, hash = excluded.hash,
           next = excluded.next, wake = excluded.wake, error = null, changed = clock_timestamp()
    returning s.*
$$;

-- Returns the fields that the job of a schedule must not have: the schedule decides them, or they lead to other jobs, which
-- `fire` does not check, because it enqueues with the dispatcher's rights. Python's NOT_IN_TEMPLATE has those that are options.
create or replace function minutehand.not_in_template() returns text[]
language sql immutable parallel safe
as $$
    select '{run_at,delay,every,zone,tenant,batch,after,after_failure,nominal,schedule,id,load,ordinal}'::text[]
$$;

-- Returns the job of a schedule, or raises an error if it is not an object with a kind, or has a field that it must not have.
-- Parsed as `fire` parses it, so that an invalid job (\u0000) is refused now and not at its occurrence.
create or replace function minutehand.schedule_job(job json) returns json
language plpgsql stable
as $$
declare
    item  minutehand.new_jobs;
    given text;
begin
    if json_typeof(job) is distinct from 'object' then
        perform minutehand.refuse('schedule_has_a_job', 'the job of a schedule must be an object with a kind');
    end if;
    select name into given
      from json_each_text(job) e (name, value)
     where name = any (minutehand.not_in_template()) and value is not null
     order by name limit 1;
    if found then
        perform minutehand.refuse('schedule_has_a_job', format('the job of a schedule must not have %s; the schedule decides it', given));
    end if;
    item := json_populate_record(null::minutehand.new_jobs, job);
    perform item.kind::minutehand.kind, minutehand.fitting(item.payload);
    if item.kind is null then
        perform minutehand.refuse('schedule_has_a_job', 'the job of a schedule must be an object with a kind');
    end if;
    return job;
end
$$;

-- Pauses or resumes a schedule.
create or replace function minutehand.pause_schedule(of_name text, paused boolean, next timestamptz, wake timestamptz)
returns setof minutehand.schedules
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    update minutehand.schedules s
       set paused = pause_schedule.paused, next = pause_schedule.next, wake = pause_schedule.wake, changed = clock_timestamp()
     where s.tenant = minutehand.schedule_tenant() and s.name = of_name
    returning s.*
$$;

-- Deletes a schedule; its jobs and its firings stay. Returns whether there was one.
create or replace function minutehand.delete_schedule(of_name text) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    delete from minutehand.schedules s where s.tenant = minutehand.schedule_tenant() and s.name = of_name;
    return found;
end
$$;

-- Replaces a schedule's payload with a re-encrypted one, unless it has changed since. Returns whether it did.
create or replace function minutehand.replace_schedule_payload(of_tenant text, of_name text, former jsonb, payload jsonb) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    update minutehand.schedules s
       set job = jsonb_set(s.job::jsonb, '{payload}', replace_schedule_payload.payload)::json
     where s.tenant = of_tenant and s.name = of_name and (s.job -> 'payload')::jsonb = former
       and minutehand.tenant_scope() in ('', s.tenant);
    return found;
end
$$;

-- Enqueues a schedule's job now, in addition to its occurrences. Returns the job's id, or null if there is no such schedule, or
-- if the occurrence has fired.
create or replace function minutehand.fire_now(of_name text, moment timestamptz, key text) returns uuid
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    return (select f.job
              from minutehand.fire(json_build_array(json_build_object(
                       'tenant', minutehand.schedule_tenant(), 'schedule', of_name, 'nominal', moment::minutehand.finite_time, 'outcome', 'requested',
                       'count', 1, 'late', false, 'job', json_strip_nulls(json_build_object('key', key))))) f);
end
$$;
