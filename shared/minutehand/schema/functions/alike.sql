-- Alike: jobs without a key and without a recurrence that differ only in payload and time. Nearly all jobs of a bulk are.

-- Enqueues a job for each payload, with the options of `item`; returns the time that counts as now.
-- `offsets` has the position of each payload in the bulk: jobs with the same time run in this order. `run_ats` and `delays` give
-- jobs a time of their own. The parts of a bulk have one `since`, which counts as now if it was within the last second, so that
-- their jobs run in the order of the bulk. Otherwise by the rules of enqueue_all; a test compares every column.
--
-- One statement, in which Postgres checks the rules of the options once and not for each row. COPY into `jobs_live` is not
-- faster, and not safe: it does not support row-level security, and a login that may write to the table can forge jobs.
create or replace function minutehand.enqueue_alike(
    item minutehand.new_jobs, payloads json, offsets integer[], ids uuid[], run_ats timestamptz[] default null,
    delays interval[] default null, since timestamptz default null
) returns timestamptz
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    -- Not earlier, because scans of lanes begin some seconds before now.
    moment    timestamptz := greatest(least(since, clock_timestamp()), clock_timestamp() - interval '1 second');
    -- Has the domains of the columns, so that a value is checked when it is assigned. A column without one needs a cast.
    job       minutehand.jobs_live;
    max_bytes integer;
    size      bigint := octet_length(payloads::text);
begin
    if not minutehand.is_plain(item) then
        perform minutehand.refuse('jobs_are_alike', 'jobs with a key or a recurrence must be enqueued by enqueue or enqueue_all');
    elsif item.kind is null then
        perform minutehand.refuse('kind_is_a_name', 'kind must not be null');
    elsif interval '0' > any (delays) then
        perform minutehand.refuse('delay_is_not_negative');
    elsif run_ats is not null and delays is not null then
        if exists (select from unnest(run_ats, delays) t (run_at, delay) where num_nulls(run_at, delay) = 0) then
            perform minutehand.refuse('run_at_or_delay');
        end if;
    end if;
    job.kind := item.kind;
    job.group := item.group;
    job.tenant := minutehand.tenant_of(item.tenant);
    job.headers := item.headers;
    job.expires := item.expires;
    job.personal := coalesce(item.personal, false);
    select coalesce(item.queue, d.queue, 'default'), coalesce(item.priority, d.priority, q.priority, 5),
           coalesce(item.max_attempts, d.max_attempts, q.max_attempts, 8), coalesce(item.retry, d.retry, q.retry),
           coalesce(item.timeout, d.timeout, q.timeout),
           -- JSON null is none, not even the default.
           nullif(coalesce(item.on_dead, d.on_dead, q.on_dead)::text, 'null'), s.max_payload
      into job.queue, job.priority, job.max_attempts, job.retry, job.timeout, job.on_dead, max_bytes
      from minutehand.settings s
      left join minutehand.defaults d on d.kind = item.kind
      left join minutehand.queue_defaults q on q.queue = coalesce(item.queue, d.queue, 'default')
     where s.one;
    if size > max_bytes then
        select max(octet_length(p::text)) into size from json_array_elements(payloads) p;
        if size > max_bytes then
            perform minutehand.too_large('payload', size, max_bytes, 'bytes');
        end if;
    end if;

    insert into minutehand.jobs_live
           (id, enqueued, queue, kind, "group", payload, headers, run_at, visible, priority, max_attempts, retry, timeout, personal,
            tenant, expires, on_dead, batch)
    select i.id, moment, job.queue, job.kind, job.group, i.payload, job.headers, i.run_at, i.run_at, job.priority, job.max_attempts,
           job.retry, job.timeout, job.personal, job.tenant, job.expires, job.on_dead,
           item.batch
      from (select p.id, p.payload,
                   greatest(coalesce(p.run_at, moment + p.delay, moment), moment)
                       + interval '1 microsecond' * greatest(p.place, 0) as run_at
              from rows from (unnest(ids), json_array_elements(payloads), unnest(offsets), unnest(run_ats), unnest(delays))
                   p (id, payload, place, run_at, delay)) i;
    if item.batch is not null then
        perform minutehand.add_to_batches(array_fill(item.batch, array[cardinality(ids)]), ids,
                                          array_fill(job.tenant::text, array[cardinality(ids)]), minutehand.current_tenant());
    end if;
    return moment;
end
$$;

-- Whether a job has no key, no recurrence and no predecessors, so that no other job matters to it.
-- In SQL, so that Postgres inlines it into the calling expression.
create or replace function minutehand.is_plain(item minutehand.new_jobs) returns boolean
language sql immutable
as $$
    select num_nonnulls(item.key, item.every, item.zone, item.unique_while, item.unique_for, item.debounce, item.debounce_max,
                        item.throttle, item.after, item.after_failure) = 0
$$;

-- Returns the tenant of a new job that requests this one, or refuses it; see check_tenants. Only functions with the rights of
-- their owner call it.
create or replace function minutehand.tenant_of(requested text) returns text
language plpgsql stable
as $$
declare
    session_tenant text := minutehand.current_tenant();
begin
    if session_tenant <> '' then
        if session_tenant = '-' then
            perform minutehand.refuse('tenant_is_set');
        elsif requested <> session_tenant then
            perform minutehand.refuse('tenant_is_own');
        end if;
        return session_tenant;
    end if;
    return coalesce(requested, '');
end
$$;
