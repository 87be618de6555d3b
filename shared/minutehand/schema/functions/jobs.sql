-- Jobs: their state, lapsed attempts and next occurrences.

-- Derives a job's state from its facts. No column stores the state, so none can contradict the facts.
--
--   scheduled   waits for its time
--   due         its time has come, or an offer or a lease ran out
--   offered     a worker was invited and has not claimed it yet
--   running     claimed, within its lease
--   retrying    failed, waits for its next attempt
--   done        finished successfully
--   dead        finished without success: out of attempts, or not retryable
--   expired     finished without having started: `expires` had passed
--   cancelled   finished by a cancellation
create or replace function minutehand.state(job minutehand.jobs, at timestamptz default now()) returns text
language sql stable parallel safe
as $$
    select case
        when job.deleted is not null and not job.failed then 'done'
        when job.deleted is not null and job.cancelled then 'cancelled'
        when job.deleted is not null and job.attempts = 0 and job.expires is not null then 'expired'
        when job.deleted is not null then 'dead'
        when job.visible <= at then 'due'
        when job.ack is null and job.attempts = 0 then 'scheduled'
        when job.ack is null then 'retrying'
        when job.claimed is null or job.offered > job.claimed then 'offered'
        else 'running' end
$$;

-- Records the attempt of a claim that was never finished because its worker died. The next claim or change of
-- the job detects this; until then the worker may still finish late and be accepted.
create or replace function minutehand.lapse(job minutehand.jobs, attempt integer, started timestamptz) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    insert into minutehand.attempts (job, attempt, started, tenant, queue, kind, outcome)
    select job.id, lapse.attempt, lapse.started, job.tenant, job.queue, job.kind, 'lapsed'
       -- A job that was replaced meanwhile counts its attempts from zero again.
     where lapse.attempt > 0
       and minutehand.current_tenant() in ('', job.tenant);
    return true;
end
$$;

-- Inserts the next occurrence of a recurring job, with all its options. `job` is the row as it was before it
-- was finished, with its payload. Returns null if the key was enqueued while the job ran: the last enqueue decides
-- whether and how a key recurs.
create or replace function minutehand.create_occurrence(job minutehand.jobs_live, nominal timestamptz) returns uuid
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    next_id uuid;
begin
    insert into minutehand.jobs_live
           (queue, kind, key, "group", payload, headers, run_at, visible, priority, max_attempts, retry, timeout,
            tenant, personal, every, zone, nominal, schedule, expires, on_dead, enqueued_by)
    values (job.queue, job.kind, job.key, job.group, job.payload, job.headers, create_occurrence.nominal, create_occurrence.nominal, job.priority,
            job.max_attempts, job.retry, job.timeout, job.tenant, job.personal, job.every, job.zone, create_occurrence.nominal,
            job.schedule, job.expires, job.on_dead, job.enqueued_by)
        on conflict (queue, key, tenant) where key is not null and claimed is null do nothing
    returning id into next_id;
    -- Checked after the insert, which waits for open transactions that enqueue the key.
    if job.key is not null and exists (select from minutehand.superseded s where s.job = (create_occurrence.job).id) then
        delete from minutehand.jobs_live j where j.id = next_id;
        return null;
    end if;
    return next_id;
end
$$;

-- Creates an occurrence at a tick, which waits for a transaction that keeps the key for so many milliseconds, and then gets
-- SQLSTATE 55P03.
create or replace function minutehand.create_occurrence_at_tick(job minutehand.jobs_live, nominal timestamptz, lock_wait integer) returns uuid
language plpgsql volatile set lock_timeout = '1s'
as $$
begin
    perform set_config('lock_timeout', lock_wait::text, true);
    return minutehand.create_occurrence(job, nominal);
end
$$;

-- Creates the job of `on_dead` for a job that dies; returns its id. `job` is the row as it was before it died. The payload
-- of the new job has the field `dead`, which describes this one. The new job gets no `on_dead` by default: otherwise jobs
-- that die could create each other without end.
-- A job that cannot be created, for example because max_payload was lowered, must not keep the other one from dying.
create or replace function minutehand.create_on_dead(job minutehand.jobs_live, error jsonb) returns uuid
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    item  minutehand.new_jobs := json_populate_record(null::minutehand.new_jobs, job.on_dead);
    given json := coalesce(nullif(item.payload::text, 'null'), '{}');
    dead  json := json_build_object('id', job.id, 'kind', job.kind, 'queue', job.queue, 'key', job.key, 'attempts', job.attempts,
                                    'error', jsonb_build_object('type', error -> 'type', 'message', error -> 'message'));
begin
    item.ordinal := 1;
    item.payload := (select '{' || string_agg(to_json(name) || ':' || value, ',') || '}'
                       from (select name, value from json_each(given) e (name, value) where name <> 'dead'
                             union all select 'dead', dead) fields);
    item.tenant := job.tenant;
    item.on_dead := coalesce(item.on_dead, 'null');
    return (select e.id from minutehand.enqueue_all(array[item]) e);
exception
    when data_exception or integrity_constraint_violation or program_limit_exceeded then
        raise warning 'the on_dead job of % was not created: %', job.id, sqlerrm;
        return null;
end
$$;

-- Returns a copy of a finished job, without recurrence and predecessors, to enqueue again under another key at another time.
create or replace function minutehand.copy_of(
    job minutehand.jobs, ordinal bigint, key text, run_at timestamptz, max_attempts integer
) returns minutehand.new_jobs
language plpgsql stable
as $$
declare
    item minutehand.new_jobs;
begin
    item.ordinal := copy_of.ordinal;
    item.kind := job.kind;
    item.payload := job.payload;
    item.queue := job.queue;
    item.key := copy_of.key;
    item.group := job.group;
    -- A copy must not end the recurrence of a job that runs.
    item.unique_while := case when copy_of.key is not null then 'running' end;
    item.run_at := copy_of.run_at;
    item.priority := job.priority;
    item.max_attempts := coalesce(copy_of.max_attempts, job.max_attempts);
    item.retry := job.retry;
    item.timeout := job.timeout;
    item.headers := job.headers;
    item.nominal := job.nominal;
    item.personal := job.personal;
    item.tenant := job.tenant;
    item.expires := job.expires;
    item.on_dead := coalesce(job.on_dead, 'null');
    return item;
end
$$;

-- Returns the numbers in a version in order, so that 1.9 sorts before 1.10. A version without numbers sorts
-- first.
create or replace function minutehand.version_numbers(version text) returns numeric[]
language sql immutable parallel safe
as $$
    select coalesce(array_agg(found[1]::numeric), '{}') from regexp_matches(coalesce(version, ''), '\d{1,100}', 'g') found
$$;

-- Records events, in the caller's transaction if there is one. A session's own tenant overrides the events'; those about
-- jobs of other tenants are left out.
-- Gives up after one second, rather than have a job wait for a partition's lock.
create or replace function minutehand.keep_events(events jsonb) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '1s'
as $$
declare
    moment         timestamptz := clock_timestamp();
    session_tenant text := minutehand.current_tenant();
    others         uuid[] := '{}';
begin
    if session_tenant = '-' then
        perform minutehand.refuse('tenant_is_set');
    elsif session_tenant <> '' then
        others := minutehand.jobs_of_others(array(select (e ->> 'job')::uuid from jsonb_array_elements(events) e), session_tenant);
    end if;
    insert into minutehand.events (id, at, tenant, name, job, queue, kind, facts)
    -- A microsecond apart, so that they keep their order.
    select e.id, moment + interval '1 microsecond' * (row_number() over () - 1),
           coalesce(nullif(session_tenant, ''), e.tenant, ''), left(e.name, 200), e.job, left(e.queue, 200), left(e.kind, 200),
           minutehand.bounded_facts(jsonb_strip_nulls(jsonb_build_object('key', e.key, 'attempt', e.attempt, 'max_attempts', e.max_attempts))
               || case jsonb_typeof(e.facts) when 'object' then e.facts else '{}' end)
      from jsonb_to_recordset(events) as e (id uuid, tenant text, name text, job uuid, queue text, kind text, key text,
                                          attempt integer, max_attempts integer, facts jsonb)
     where e.job is null or e.job <> all (others);
end
$$;
