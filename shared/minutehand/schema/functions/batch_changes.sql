-- Changes of the jobs of a batch and of those nested in it, in SQL: cancel and retry.

-- Refuses a batch that the session does not see, and a number of jobs out of bounds.
create or replace function minutehand.check_change(of_batch uuid, max_jobs integer) returns void
language plpgsql stable
as $$
begin
    if not exists (select from minutehand.batches b where b.id = of_batch) then
        perform minutehand.refuse('batch_exists', case when of_batch is null then 'batch must be the id of a batch, a UUID'
                                                       else format('batch %s does not exist', of_batch) end);
    elsif max_jobs is null or max_jobs not between 1 and 10000 then
        perform minutehand.refuse('max_jobs_fits', format('max_jobs must be an integer from 1 to 10000, got %s', coalesce(max_jobs::text, 'null')));
    end if;
end
$$;

-- Returns up to 1000 open batches that are nested in a batch: one that its program left open keeps the others from ending.
create or replace function minutehand.open_in(of_batch uuid) returns setof uuid
language sql stable rows 10
as $$
    select b.id
      from minutehand.batches b
     where b.id in (select n from minutehand.batches_in(of_batch) n) and b.id <> of_batch and b.closed is null
     order by b.id
     limit 1000
$$;

-- Cancels up to `max_jobs` upcoming jobs of a batch and of those nested in it, closes up to 1000 nested ones that are open, with audit
-- entries, and returns the number of jobs.
--
--   select minutehand.cancel_batch(batch, 'wrong month');
create or replace function minutehand.cancel_batch(batch uuid, reason text default 'on request', max_jobs integer default 1000) returns bigint
language plpgsql volatile
as $$
declare
    ids     uuid[];
    tenants text[];
    facts   text := json_build_object('reason', cancel_batch.reason);
    nested  record;
begin
    perform minutehand.check_change(cancel_batch.batch, max_jobs);
    select array_agg(c.id), array_agg(c.tenant) into ids, tenants
      from minutehand.cancel_jobs(array(
           -- Running jobs must not use up the limit: the next call would find them again.
           select j from minutehand.unfinished_in(cancel_batch.batch, '00000000-0000-0000-0000-000000000000', max_jobs, false) j),
           cancel_batch.reason) c;
    if ids is not null then
        perform minutehand.record_audit(null, 'cancel', ids, array_fill(facts, array[cardinality(ids)]), tenants);
    end if;
    for nested in select b.id, b.tenant from minutehand.batches b where b.id in (select minutehand.open_in(cancel_batch.batch)) order by b.id loop
        if minutehand.close_batch(nested.id) then
            perform minutehand.record_audit(
                null, 'close_batch', array[null::uuid], array[json_build_object('batch', nested.id)::text], array[nested.tenant::text]);
        end if;
    end loop;
    return coalesce(cardinality(ids), 0);
end
$$;

-- Retries up to `max_jobs` dead, expired and cancelled jobs of a batch and of those nested in it, with audit entries, and returns their
-- number.
create or replace function minutehand.retry_batch(batch uuid, max_jobs integer default 1000) returns bigint
language plpgsql volatile
as $$
declare
    ids     uuid[];
    tenants text[];
begin
    perform minutehand.check_change(retry_batch.batch, max_jobs);
    ids := array(select j from minutehand.failed_in(retry_batch.batch, '00000000-0000-0000-0000-000000000000', max_jobs) j);
    select array_agg(r.id), array_agg(r.tenant) into ids, tenants
      from minutehand.retry_jobs(ids, array_fill(interval '0', array[cardinality(ids)])) r;
    if ids is not null then
        perform minutehand.record_audit(null, 'retry', ids, array_fill('{}'::text, array[cardinality(ids)]), tenants);
    end if;
    return coalesce(cardinality(ids), 0);
end
$$;
