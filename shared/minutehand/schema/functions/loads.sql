-- Loads: many jobs from files, staged in a table of their own and entered in one transaction, each load once.

-- Creates a run's own table for the caller to COPY into, and removes the tables of killed runs.
create or replace function minutehand.begin_load(of_load text, of_run uuid) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    perform minutehand.end_dead_loads();
    insert into minutehand.load_runs (run, load, guarded) values (of_run, of_load, minutehand.is_guarded(of_run));
    execute format('create unlogged table minutehand.%I (like minutehand.staged) with (autovacuum_enabled = false)',
                   minutehand.staged_name(of_run));
    execute format('grant insert, select on minutehand.%I to %I', minutehand.staged_name(of_run), minutehand.session_role());
end
$$;

-- Drops a run's table.
create or replace function minutehand.end_load(of_run uuid) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    execute format('drop table if exists minutehand.%I', minutehand.staged_name(of_run));
    delete from minutehand.load_runs where run = of_run;
end
$$;

-- Returns the name of a run's table.
create or replace function minutehand.staged_name(of_run uuid) returns name
language sql immutable
as $$
    select ('staged_' || replace(of_run::text, '-', ''))::name
$$;

-- Enters the jobs that a run has staged, by the rules of put_all, and records the load. `fresh` is false if
-- the load was recorded before; then nothing is entered.
--
-- Of each slice only the attempt named here counts. `befores` gives the number of jobs in the slices before
-- it, so that jobs keep the order of the input. Jobs without a time of their own run at `starts`, or now if
-- that has passed, evenly spread over `spread`. If that is less than a microsecond per job, they follow one
-- microsecond apart, so that no two share a time and the order is kept.
--
-- The staging table is unlogged: Postgres empties it when it restarts after a crash. `expected` is the number of jobs that the
-- tasks have staged. If some are missing, the load fails as a whole.
--
-- A test enters the same items here and through put_all, and compares every column.
create or replace function minutehand.enqueue_load(
    of_load text, of_run uuid, attempts text[], slices bigint[], befores bigint[], on_conflict text, rejected bigint,
    expected bigint, starts timestamptz default null, spread interval default null
) returns table (fresh boolean, load text, run uuid, at timestamptz, actor text,
                 created bigint, replaced bigint, ignored bigint, rejects bigint)
language plpgsql volatile security definer
set search_path = minutehand, pg_temp set work_mem = '128MB' set jit = off
as $$
#variable_conflict use_column
declare
    moment         timestamptz := clock_timestamp();
    base           timestamptz := greatest(starts, moment);
    session_tenant text := minutehand.current_tenant();
    loader         name := minutehand.session_role();
    staged         name := minutehand.staged_name(of_run);
    -- Microseconds: a day's length depends on the time zone.
    width          double precision;
    rows_sql       text;
    total          bigint;
    keyed          bigint;
    plain          bigint;
    inserted       bigint;
    updated        bigint;
begin
    if on_conflict is null or on_conflict not in ('replace', 'ignore', 'raise') then
        perform minutehand.refuse('on_conflict_is_known', 'on_conflict of a load must be replace, ignore or raise');
    end if;
    -- Waits for another run of this load that is about to commit.
    insert into minutehand.loads (load, run, rejected) values (of_load, of_run, enqueue_load.rejected) on conflict do nothing;
    if not found then
        return query
        select false, l.load::text, l.run, l.at, l.actor::text, l.created, l.replaced, l.ignored, l.rejected
          from minutehand.loads l where l.load = of_load;
        return;
    end if;
    perform minutehand.check_staged(staged, session_tenant);
    select c.total, c.keyed into total, keyed from minutehand.check_items(staged, attempts, slices) c;
    if total is distinct from expected then
        perform minutehand.refuse('load_is_complete', format(
            'the load has %s staged jobs, expected %s: the server lost them in a restart; run the load again', total, expected));
    end if;
    if spread is not null then
        width := greatest(extract(epoch from spread) * 1e6, total);
    end if;

    rows_sql := format(
        $q$select minutehand.uuid7() as id, i.kind, i.key, coalesce(i.payload, 'null') as payload,
                  i.headers::jsonb::minutehand.headers as headers, p.before + i.ordinal as ordinal,
                  case when i.queue is null then coalesce(d.queue, 'default') else i.queue end::minutehand.queue as queue,
                  (case when i.run_at is null and i.delay is null and $7 is not null
                             then $5 + interval '1 microsecond' * ($7 * (p.before + i.ordinal) / $8)
                        else greatest(coalesce(i.run_at, $6 + i.delay * interval '1 second', $5), $6)
                             + interval '1 microsecond' * (p.before + i.ordinal) end)::minutehand.finite_time as run_at,
                  coalesce(i.priority, d.priority, q.priority, 5)::minutehand.priority as priority,
                  coalesce(i.max_attempts, d.max_attempts, q.max_attempts, 8)::minutehand.max_attempts as max_attempts,
                  coalesce(i.retry::jsonb, d.retry, q.retry)::minutehand.retry as retry,
                  coalesce(i.timeout * interval '1 second', d.timeout, q.timeout)::minutehand.timeout as timeout,
                  coalesce(i.personal, false) as personal,
                  nullif(coalesce(d.on_dead, q.on_dead)::text, 'null')::json as on_dead,
                  coalesce(nullif($4, ''), i.of_tenant, '')::minutehand.tenant as tenant
             from minutehand.%I i
             join unnest($1, $2, $3) p (attempt, slice, before) on p.attempt = i.attempt and p.slice = i.slice
             left join minutehand.defaults d on d.kind = i.kind
             left join minutehand.queue_defaults q on q.queue = coalesce(i.queue, d.queue, 'default')
            where i.reason is null and i.key is $q$, staged);

    execute format(
        'insert into minutehand.jobs_live
                (id, queue, kind, payload, headers, run_at, visible, priority, max_attempts, retry, timeout, personal, tenant,
                 on_dead)
         select id, queue, kind, payload, headers, run_at, run_at, priority, max_attempts, retry, timeout, personal, tenant,
                on_dead
           from (%s null) rows_sql', rows_sql)
      using attempts, slices, befores, session_tenant, base, moment, width, total;
    get diagnostics plain = row_count;

    if keyed > 0 then
        execute format(
            $q$with written as (
                insert into minutehand.jobs_live as j
                       (id, queue, kind, key, payload, headers, run_at, visible, priority, max_attempts, retry, timeout,
                        personal, tenant, on_dead, enqueued_by)
                -- In the order of put_all, so that concurrent enqueuers do not deadlock.
                select distinct on (key, queue, tenant)
                       id, queue, kind, key, payload, headers, run_at, run_at, priority, max_attempts, retry, timeout,
                       personal, tenant, on_dead, $9
                  from (%s not null) rows_sql
                 order by key, queue, tenant, ordinal %s
                    on conflict (queue, key, tenant) where key is not null and claimed is null %s
                -- xmax of a row that existed before is this transaction.
                returning xmax = 0 as inserted
            ) select count(*) filter (where inserted), count(*) filter (where not inserted) from written$q$,
            rows_sql, case when on_conflict = 'replace' then 'desc' else '' end,
            case when on_conflict = 'replace' then minutehand.load_conflict_action() else 'do nothing' end)
           into inserted, updated using attempts, slices, befores, session_tenant, base, moment, width, total, loader;
        if inserted > 0 then
            perform minutehand.supersede_all_running();
        end if;
        if on_conflict = 'raise' and inserted < keyed then
            perform minutehand.refuse('key_is_free',
                format('%s rows of the load have a key that an upcoming job or an earlier row has', keyed - inserted), '23505');
        end if;
    end if;

    return query
    update minutehand.loads l
       set created = plain + coalesce(inserted, 0), replaced = coalesce(updated, 0),
           ignored = coalesce(keyed - inserted - updated, 0), at = clock_timestamp()
     where l.load = of_load
    returning true, l.load::text, l.run, l.at, l.actor::text, l.created, l.replaced, l.ignored, l.rejected;
end
$$;

-- Returns the `on conflict` action with which put_all replaces an upcoming job. Loads never debounce or recur.
create or replace function minutehand.load_conflict_action() returns text
language sql immutable
as $$
    select $q$do update set
           kind = excluded.kind, "group" = null, payload = excluded.payload, headers = excluded.headers, run_at = excluded.run_at,
           visible = excluded.visible, ack = null, prior = null, offered = null, latest = null,
           priority = excluded.priority, max_attempts = excluded.max_attempts, retry = excluded.retry,
           timeout = excluded.timeout, enqueued = clock_timestamp(), attempts = 0, error = null, result = null,
           cancelled = false, cancelling = null, every = null, zone = null, nominal = null, schedule = null,
           personal = excluded.personal, expires = null, on_dead = excluded.on_dead,
           enqueued_by = excluded.enqueued_by
     where j.attempts > 0 or j.cancelling is not null
        or (j.run_at, j.visible, j.kind, j.group, j.payload::text, minutehand.without_trace(j.headers), j.priority, j.max_attempts, j.retry, j.timeout,
            j.latest, j.every, j.zone, j.nominal, j.schedule, j.personal, j.expires, j.on_dead::text)
           is distinct from
           (excluded.run_at, excluded.visible, excluded.kind, null, excluded.payload::text, minutehand.without_trace(excluded.headers), excluded.priority,
            excluded.max_attempts, excluded.retry, excluded.timeout, null, null, null, null, null, excluded.personal, null,
            excluded.on_dead::text)$q$
$$;

-- Refuses a load for another tenant than the session's, as check_tenants does.
create or replace function minutehand.check_staged(staged name, session_tenant text) returns void
language plpgsql stable
as $$
declare
    others boolean;
begin
    if session_tenant = '-' then
        perform minutehand.refuse('tenant_is_set');
    elsif session_tenant <> '' then
        execute format('select exists (select from minutehand.%I where of_tenant <> $1)', staged) into others using session_tenant;
        if others then
            perform minutehand.refuse('tenant_is_own');
        end if;
    end if;
end
$$;

-- Refuses what check_new refuses, in the same words; counts the jobs to enter, and those with a key.
create or replace function minutehand.check_items(staged name, attempts text[], slices bigint[], out total bigint, out keyed bigint)
language plpgsql stable
as $$
declare
    max_bytes integer := (select max_payload from minutehand.settings);
    faults boolean[];
    size   bigint;
begin
    execute format(
        'select count(*), count(i.key), array[bool_or(i.run_at is not null and i.delay is not null), bool_or(i.delay < 0),
                                              bool_or(octet_length(i.payload::text) > $3)],
                max(octet_length(i.payload::text))
           from minutehand.%I i join unnest($1, $2) p (attempt, slice) on p.attempt = i.attempt and p.slice = i.slice
          where i.reason is null', staged) into total, keyed, faults, size using attempts, slices, max_bytes;
    case
        when faults[1] then perform minutehand.refuse('run_at_or_delay');
        when faults[2] then perform minutehand.refuse('delay_is_not_negative');
        when faults[3] then perform minutehand.too_large('payload', size, max_bytes, 'bytes');
        else null;
    end case;
end
$$;
