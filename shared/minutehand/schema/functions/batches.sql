-- Batches: open, close and end one, and enqueue its callback. batch_counts.sql counts their jobs.

-- Returns the shard of a job in its batch, 0 to 63: six bits of the id's time, which change every 15.6 microseconds. Jobs of
-- a bulk are a microsecond apart, so that a worker that ends 100 successive jobs locks about seven shards, and workers that
-- end others at the same time lock other shards.
create or replace function minutehand.shard_of(job uuid) returns smallint
language sql immutable parallel safe
as $$
    select ((get_byte(uuid_send(job), 6) & 15) << 2 | get_byte(uuid_send(job), 7) >> 6)::smallint
$$;

-- Creates an open batch of the session's tenant, or of this one, and returns its id. When its last job has ended, `on_complete`
-- is enqueued, or `on_failure` instead if that is given and one of its jobs is dead, expired or cancelled. With a `parent`, it
-- counts as one job of that batch.
--
--   select minutehand.open_batch(on_complete => '{"kind": "report"}');
create or replace function minutehand.open_batch(
    on_complete json default null, on_failure json default null, tenant text default null, name text default null, parent uuid default null
) returns uuid
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    opened minutehand.batches;
begin
    insert into minutehand.batches (tenant, name, on_complete, on_failure, parent)
    values (minutehand.tenant_of(open_batch.tenant), open_batch.name, nullif(open_batch.on_complete::text, 'null')::json,
            nullif(open_batch.on_failure::text, 'null')::json, open_batch.parent)
    returning * into opened;
    insert into minutehand.batch_counts (batch, shard) values (opened.id, 64);
    if opened.parent is not null then
        perform minutehand.nest_batch(opened);
    end if;
    return opened.id;
end
$$;

-- Closes a batch: it ends with its last open job, or now if it has none. Returns whether it was open.
create or replace function minutehand.close_batch(of_batch uuid) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    if not exists (select from minutehand.batches b
                    where b.id = of_batch and (select minutehand.current_tenant()) in ('', b.tenant)) then
        perform minutehand.refuse('batch_exists', format('batch %s does not exist', of_batch));
    elsif minutehand.sees_commits() then
        -- Waits for transactions that brought a shard to zero while the batch was open.
        perform from minutehand.batch_counts c where c.batch = of_batch and c.shard = 64 for update;
    end if;
    update minutehand.batches b set closed = clock_timestamp() where b.id = of_batch and b.closed is null;
    if not found then
        return false;
    elsif minutehand.sees_commits() then
        perform minutehand.check_batch(of_batch);
    else
        insert into minutehand.batch_checks (batch, shard) values (of_batch, 64);
    end if;
    return true;
end
$$;

-- Ends a batch whose row is locked, and enqueues its callback unless that was enqueued before. Its parent then counts it.
create or replace function minutehand.end_batch(of_batch uuid) returns void
language plpgsql volatile
as $$
declare
    b      minutehand.batches;
    counts record;
    failed boolean;
    fails  boolean;
begin
    update minutehand.batches set ended = clock_timestamp() where id = of_batch returning * into b;
    select * into counts from minutehand.count_jobs_of(of_batch);
    failed := counts.dead + counts.expired + counts.cancelled > 0;
    fails := failed and b.on_failure is not null;
    if fails and b.failure_job is null then
        update minutehand.batches set failure_job = minutehand.create_callback(b, b.on_failure, to_json(counts)) where id = of_batch;
    elsif not fails and b.on_complete is not null and b.complete_job is null then
        update minutehand.batches set complete_job = minutehand.create_callback(b, b.on_complete, to_json(counts)) where id = of_batch;
    end if;
    if b.parent is not null then
        perform minutehand.count_nested(b, failed);
    end if;
end
$$;

-- Counts the jobs of a batch: `total` is all that were added, without deleted ones.
create or replace function minutehand.count_jobs_of(
    of_batch uuid, out total bigint, out open bigint, out done bigint, out dead bigint, out expired bigint, out cancelled bigint
)
language sql stable
as $$
    select sum(c.open + c.done + c.dead + c.expired + c.cancelled), sum(c.open), sum(c.done), sum(c.dead), sum(c.expired),
           sum(c.cancelled)
      from (select open, done, dead, expired, cancelled from minutehand.batch_counts where batch = of_batch
             union all
            select open, done, dead, expired, cancelled from minutehand.batch_changes where batch = of_batch
             union all
            select 0, 0, 0, 0, 0) c
$$;

-- Counts the jobs of the batches that the session may see.
create or replace function minutehand.batch_progress(ids uuid[])
returns table (id uuid, total bigint, open bigint, done bigint, dead bigint, expired bigint, cancelled bigint)
language sql stable security definer set search_path = minutehand, pg_temp
as $$
    select b.id, c.*
      from minutehand.batches b
     cross join lateral minutehand.count_jobs_of(b.id) c
     where b.id = any (ids) and (select minutehand.read_scope()) in ('', b.tenant)
$$;

-- Deletes up to `max_batches` that ended before a time.
create or replace function minutehand.delete_batches(ended_before timestamptz, max_batches integer) returns bigint
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with old as (
        delete from minutehand.batches
         where id in (select id from minutehand.batches where ended < ended_before order by ended limit max_batches for update skip locked)
        returning id
    ), counts as (
        delete from minutehand.batch_counts where batch in (select id from old)
    ), changes as (
        delete from minutehand.batch_changes where batch in (select id from old)
    )
    select count(*) from old
$$;

-- Enqueues a callback of a batch and returns its id. The payload gets the field `batch`, with the id, the name and the counts.
-- It has the tenant of the batch, whichever session ends the last job, and belongs to the parent of the batch. A callback that
-- cannot be enqueued must not keep that job from ending.
create or replace function minutehand.create_callback(of_batch minutehand.batches, callback json, counts json) returns uuid
language plpgsql volatile
as $$
declare
    item  minutehand.new_jobs := json_populate_record(null::minutehand.new_jobs, callback);
    given json := coalesce(nullif(item.payload::text, 'null'), '{}');
    facts json := (jsonb_build_object('id', of_batch.id, 'name', of_batch.name) || counts::jsonb)::json;
begin
    item.ordinal := 1;
    item.payload := (select '{' || string_agg(to_json(f.name) || ':' || f.value, ',') || '}'
                       from (select e.name, e.value from json_each(given) e (name, value) where e.name <> 'batch'
                             union all select 'batch', facts) f);
    item.tenant := nullif(of_batch.tenant, '');
    item.batch := (select p.id from minutehand.batches p where p.id = of_batch.parent);
    return (select p.id from minutehand.put_all(array[item], 'replace', clock_timestamp(), 1, '') p);
exception
    when data_exception or integrity_constraint_violation or program_limit_exceeded then
        update minutehand.batches b set error = left(sqlerrm, 1000) where b.id = of_batch.id;
        raise warning 'the callback of batch % was not enqueued: %', of_batch.id, sqlerrm;
        return null;
end
$$;
