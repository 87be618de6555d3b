-- Keys: merging payloads, and keys that exclude other jobs for a period or while a job runs.
--
--   uniques      the keys of `unique_for` and `throttle`, each until it is free again
--   superseded   running jobs whose key was enqueued again

-- Joins the parts of a key into one text, as Python does: with slashes, after replacing % and / in a part by
-- %25 and %2F, so that two different lists of parts never give the same key.
--
--   select minutehand.enqueue('report', key => minutehand.key_of('customer', '4711'));
create or replace function minutehand.key_of(variadic parts text[]) returns text
language plpgsql immutable parallel safe
as $$
begin
    if '' = any (parts) or array_position(parts, null) is not null then
        perform minutehand.refuse('key_fits', 'a part of a key must not be empty');
    end if;
    return (select string_agg(replace(replace(part, '%', '%25'), '/', '%2F'), '/' order by n)
              from unnest(parts) with ordinality p (part, n));
end
$$;

-- Merges two payloads: arrays are concatenated, of two objects the later field wins, and null adds nothing.
-- The values stay text.
create or replace function minutehand.merged(old json, new json) returns json
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    types  text := json_typeof(old) || ' ' || json_typeof(new);
    merged json;
    most   integer := (select max_payload from minutehand.settings);
begin
    if (old -> 'minutehand' -> 'v') is not null or (new -> 'minutehand' -> 'v') is not null then
        perform minutehand.refuse('payloads_merge', 'encrypted payloads cannot be merged');
    end if;
    case
        when json_typeof(new) = 'null' then merged := old;
        when json_typeof(old) = 'null' then merged := new;
        when types = 'array array' then
            select '[' || coalesce(string_agg(value::text, ',' order by side, n), '') || ']' into merged
              from (select 1 as side, value, n from json_array_elements(old) with ordinality e (value, n)
                    union all
                    select 2, value, n from json_array_elements(new) with ordinality e (value, n)) e;
        when types = 'object object' then
            select '{' || coalesce(string_agg(to_json(name) || ':' || value, ','), '') || '}' into merged
              from (select distinct on (name) name, value
                      from (select 1 as side, name, value, n from json_each(old) with ordinality e (name, value, n)
                            union all
                            select 2, name, value, n from json_each(new) with ordinality e (name, value, n)) e
                     order by name, side desc, n desc) e;
        else perform minutehand.refuse('payloads_merge', 'merge requires two arrays or two objects');
    end case;
    if octet_length(merged::text) > most then
        perform minutehand.refuse('payload_fits', format('payload must have at most %s bytes', most));
    end if;
    return merged;
exception
    -- Reading JSON unescapes it, and Postgres text cannot hold \u0000 or half a surrogate pair.
    when untranslatable_character or invalid_text_representation then
        perform minutehand.refuse('payloads_merge', 'payloads with \u0000 or half a surrogate pair cannot be merged');
end
$$;

-- Returns the upcoming job of a key, or raises an error if on_conflict = 'raise'. Volatile on purpose: it must
-- see what was committed a moment ago.
create or replace function minutehand.upcoming(of_tenant text, in_queue text, with_key text, on_conflict text) returns minutehand.jobs_live
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    job minutehand.jobs_live;
begin
    if on_conflict = 'raise' then
        perform minutehand.refuse('key_is_free', format('queue %L has an upcoming job with key %L', in_queue, with_key), '23505');
    end if;
    select j.* into job
      from minutehand.jobs_live j
     where j.tenant = of_tenant and j.queue = in_queue and j.key = with_key and j.claimed is null;
    return job;
end
$$;

-- Returns the id in `uniques` that stands for no job.
create or replace function minutehand.no_job() returns uuid
language sql immutable parallel safe
as $$
    select uuid '00000000-0000-0000-0000-000000000000'
$$;

-- Reserves a key for a period, or, if `period` is null, for this transaction. The key's row stays locked until
-- the transaction ends, so that concurrent enqueuers of the same key wait here. Returns the row; its job is
-- no_job() if the key was free.
create or replace function minutehand.reserve(item minutehand.new_jobs, period interval) returns minutehand.uniques
language sql volatile
as $$
    insert into minutehand.uniques as u (tenant, queue, key, until, job)
    values (item.tenant, item.queue, item.key, clock_timestamp() + coalesce(period, interval '0'), minutehand.no_job())
        on conflict (queue, key, tenant)
        do update set until = case when u.until > clock_timestamp() then u.until else clock_timestamp() + coalesce(period, interval '0') end,
                      job = case when u.until > clock_timestamp() then u.job else excluded.job end
    returning u.*
$$;

-- Returns the job that blocks an item: the job that runs with its key (unique_while), or the job that reserved
-- the key for a period (unique_for), whatever became of that job. Volatile on purpose: it must see what was
-- claimed a moment ago.
create or replace function minutehand.blocking_job(item minutehand.new_jobs, taken minutehand.uniques, out job uuid, out until timestamptz)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    if item.unique_for is not null and taken.job <> minutehand.no_job() then
        job := taken.job;
        until := taken.until;
    elsif item.unique_while = 'running' then
        select j.id, j.visible into job, until
          from minutehand.jobs_live j
         where j.tenant = item.tenant and j.queue = item.queue and j.key = item.key and j.claimed is not null
         limit 1;
    end if;
end
$$;

-- Merges an item's payload into an upcoming job. Moves the job only if the item is debounced.
create or replace function minutehand.merge_into(into_job uuid, item minutehand.new_jobs)
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language sql volatile
as $$
    with target as (
        select j.id, minutehand.kept_latest(j.attempts, j.expires_at > clock_timestamp(), j.latest, clock_timestamp() + item.debounce_max) as latest
          from minutehand.jobs_live j
         where j.id = into_job
    ), moved as (
        select id, coalesce(latest, clock_timestamp() + item.debounce_max) as latest,
               case when latest > clock_timestamp() or latest is null then least(clock_timestamp() + item.debounce, latest) end as to_moment
          from target
         where item.debounce is not null
    )
    update minutehand.jobs_live j
       set payload = minutehand.merged(j.payload, coalesce(item.payload, 'null')),
           personal = j.personal or coalesce(item.personal, false),
           -- The longer of the two; a job without it never expires.
           expires = case when j.expires is not null and item.expires is not null then greatest(j.expires, item.expires) end,
           enqueued = clock_timestamp(), attempts = 0, error = null, result = null,
           run_at = coalesce(to_moment, run_at), visible = coalesce(to_moment, j.visible),
           ack = case when to_moment is null then ack end, prior = case when to_moment is null then prior end,
           offered = case when to_moment is null then offered end, latest = coalesce(moved.latest, j.latest)
      from target left join moved using (id)
     where j.id = target.id
    returning item.ordinal, j.id, 'merged', j.visible::timestamptz
$$;

-- Writes one job whose key has more options than on_conflict; see enqueue_all for the outcomes.
create or replace function minutehand.put_keyed(item minutehand.new_jobs, on_conflict text, moment timestamptz, first bigint, session_tenant text)
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
#variable_conflict use_column
declare
    mode      text := coalesce(item.on_conflict, put_keyed.on_conflict);
    taken     minutehand.uniques;
    blocker   record;
    existing  minutehand.jobs_live;
    written   record;
    requested timestamptz := coalesce(item.run_at, moment + item.delay, moment);
begin
    select null::bigint as ordinal, null::uuid as id, null as outcome, null::timestamptz as visible into written;
    select coalesce(item.queue, d.queue, 'default'), coalesce(nullif(session_tenant, ''), item.tenant, '')
      into item.queue, item.tenant
      from (values (0)) one_row left join minutehand.defaults d on d.kind = item.kind;

    if item.unique_for is not null or item.throttle is not null then
        taken := minutehand.reserve(item, item.unique_for);
    end if;
    if item.throttle is not null then
        item.run_at := greatest(requested, taken.until);
        item.delay := null;
    end if;
    blocker := minutehand.blocking_job(item, taken);
    if blocker.job is null or exists (select from minutehand.jobs_live j
                                     where j.tenant = item.tenant and j.queue = item.queue and j.key = item.key and j.claimed is null) then
        -- Inserts the job, or locks its key's upcoming job: no worker claims that before this transaction ends.
        select * into written from minutehand.put_all(array[item], 'ignore', moment, first, session_tenant, supersedes => false);
        blocker := minutehand.blocking_job(item, taken);
    end if;

    if blocker.job is not null and written.outcome is distinct from 'ignored' then
        -- The blocking job started between the two checks.
        delete from minutehand.jobs_live j where j.id = written.id;
        delete from minutehand.uniques u
         where u.tenant = item.tenant and u.queue = item.queue and u.key = item.key and taken.job = minutehand.no_job();
        if mode = 'raise' then
            perform minutehand.refuse('key_is_free', format('queue %L has a job with key %L that excludes others', item.queue, item.key), '23505');
        end if;
        return query select item.ordinal, blocker.job, 'ignored', blocker.until::timestamptz;
        return;
    end if;
    if written.outcome = 'ignored' then
        existing := minutehand.upcoming(item.tenant, item.queue, item.key, mode);
        if mode = 'merge' then
            select * into written from minutehand.merge_into(existing.id, item);
        elsif mode = 'replace' then
            if item.throttle is not null and existing.attempts = 0 then
                -- The upcoming job keeps its moment.
                item.run_at := greatest(requested, existing.run_at);
            end if;
            select * into written from minutehand.put_all(array[item], 'replace', moment, first, session_tenant);
        end if;
    end if;
    if written.outcome = 'created' then
        perform minutehand.supersede_running(written.id, item.tenant, item.queue, item.key);
    end if;
    update minutehand.uniques u
       set job = j.id, until = greatest(u.until, j.run_at + item.throttle)
      from minutehand.jobs_live j
     where taken.key is not null and j.id = written.id and u.tenant = item.tenant and u.queue = item.queue and u.key = item.key;
    return query select written.ordinal, written.id, written.outcome, written.visible;
end
$$;

-- Marks the jobs that run with the key of a new job as superseded: they are not retried and create no next
-- occurrence. The mark is a row of its own, so that the enqueuer waits for no worker and no worker for it.
-- Call it after the new job was inserted, which keeps others from entering or leaving the key. Volatile on
-- purpose: it must see what was claimed a moment ago. A transaction with an older snapshot sees such a job as
-- it was before the claim.
create or replace function minutehand.supersede_running(by_job uuid, of_tenant text, in_queue text, with_key text) returns boolean
language plpgsql volatile
as $$
begin
    insert into minutehand.superseded (job)
    select j.id
      from minutehand.jobs_live j
     where j.tenant = of_tenant and j.queue = in_queue and j.key = with_key and j.claimed is not null
     union all
    select j.id
      from minutehand.jobs_live j
     where j.tenant = of_tenant and j.queue = in_queue and j.key = with_key and j.claimed is null and j.id <> by_job
        on conflict do nothing;
    return found;
end
$$;

-- Raises an error if a job that is upcoming again was superseded while it ran. Call it after the job's row was
-- written, so that no other job can take the key in between.
create or replace function minutehand.refuse_superseded(job uuid) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    if exists (select from minutehand.superseded s where s.job = refuse_superseded.job) then
        perform minutehand.refuse('key_is_free', 'a newer job has the key', '23505');
    end if;
    return true;
end
$$;

-- Gives a finished job its key back, for a retry. Raises an error if another job with the key runs, which may
-- recur. Call it after the job's row was written.
create or replace function minutehand.regain_key(of_job uuid, of_tenant text, in_queue text, with_key text) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    if minutehand.current_tenant() not in ('', of_tenant) then
        return false;
    end if;
    if exists (select from minutehand.jobs_live j
                where j.tenant = of_tenant and j.queue = in_queue and j.key = with_key and j.claimed is not null) then
        perform minutehand.refuse('key_is_free', 'another job with the key runs', '23505');
    end if;
    delete from minutehand.superseded s where s.job = of_job;
    return true;
end
$$;
