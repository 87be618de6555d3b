-- Keys: jobs whose key excludes others for a period or while a job runs. See merge.sql and superseded.sql too.
--
--   uniques   the keys of `unique_for` and `throttle`, each until it is free again

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
            perform minutehand.check_merge(existing);
            select * into written from minutehand.merge_into(existing.id, item);
        elsif mode = 'replace' then
            if item.throttle is not null and existing.attempts = 0 then
                -- The upcoming job keeps its time.
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

-- Returns the latest time to which a debounced job that has neither started nor expired may be postponed.
create or replace function minutehand.kept_latest(job minutehand.jobs_live, moment timestamptz, new_latest timestamptz) returns timestamptz
language sql immutable
as $$
    select case when new_latest is not null and job.attempts = 0 and (minutehand.expires_at(job.run_at, job.expires) > moment) is not false then job.latest end
$$;
