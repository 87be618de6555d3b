-- Loads: many jobs from files, staged where no worker looks and entered by one transaction, each load once.
--
--   loads       the ledger: a load that is in it is done, and is not done again
--   load_runs   runs at work, each with a table of its own, staged_<run>; a dead one's is dropped a day later
--   staged      what those tables are like

set local lock_timeout = '10s';  -- short of a lock it gives up, rather than have every tick wait behind it

create table minutehand.loads (
    load     text        primary key constraint load_is_named check (length(load) between 1 and 200),
    run      uuid        not null,
    at       timestamptz not null default clock_timestamp(),
    who      text        not null default session_user,
    created  bigint      not null default 0,
    replaced bigint      not null default 0,
    ignored  bigint      not null default 0,
    rejected bigint      not null default 0
);

create table minutehand.load_runs (
    run   uuid        primary key,
    load  text        not null constraint load_is_named check (length(load) between 1 and 200),
    began timestamptz not null default clock_timestamp()
);
create index load_runs_began on minutehand.load_runs (began);

-- Of the domains of jobs, so that COPY holds the rules, in parallel, and the statement that enters need not. Who staged
-- a row is its `attempt`: a task that was tried again has staged some rows twice, and one attempt of them counts.
create unlogged table minutehand.staged (
    attempt      text   not null,
    slice        bigint not null,            -- a piece of the input; pieces are numbered in its order
    ordinal      bigint not null,            -- of a row that is a job within its slice, from 0
    kind         minutehand.kind,
    payload      json,
    queue        minutehand.queue,
    key          minutehand.key,
    run_at       minutehand.moment,
    delay        double precision,           -- seconds
    priority     minutehand.priority,
    max_attempts minutehand.max_attempts,
    retry        text,
    timeout      double precision,           -- seconds
    headers      text,
    personal     boolean,
    of_tenant    minutehand.tenant,
    source       text,                       -- of a row that is none: the file, where in it, why, and what stands there
    line         bigint,
    reason       text,
    raw          text
);

-- Opens a run's own table for the caller to copy into, and clears away what runs left that died a day ago.
create function minutehand.begin_load(of_load text, of_run uuid) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '2s'
as $$
declare
    dead uuid;
begin
    for dead in select run from minutehand.load_runs where began < now() - interval '1 day' loop
        begin
            perform minutehand.end_load(dead);
        exception
            when lock_not_available then null;  -- it lives
        end;
    end loop;
    insert into minutehand.load_runs (run, load) values (of_run, of_load);
    execute format('create unlogged table minutehand.%I (like minutehand.staged) with (autovacuum_enabled = false)',
                   minutehand.staged_name(of_run));
    execute format('grant insert, select on minutehand.%I to %I', minutehand.staged_name(of_run), minutehand.session_role());
end
$$;

create function minutehand.end_load(of_run uuid) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    execute format('drop table if exists minutehand.%I', minutehand.staged_name(of_run));
    delete from minutehand.load_runs where run = of_run;
end
$$;

create function minutehand.staged_name(of_run uuid) returns name
language sql immutable
as $$
    select ('staged_' || replace(of_run::text, '-', ''))::name
$$;

-- The lanes of what a run has staged. In a transaction before that of enqueue_load: who enqueues into a new lane would
-- wait for the end of it otherwise.
create function minutehand.announce_load(of_run uuid) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    execute format(
        'insert into minutehand.lanes (queue, priority)
         select distinct coalesce(i.queue, d.queue, ''default''), coalesce(i.priority, d.priority, q.priority, 5)
           from (select distinct kind, queue, priority from minutehand.%I where reason is null) i
           left join minutehand.defaults d on d.kind = i.kind
           left join minutehand.queue_defaults q on q.queue = coalesce(i.queue, d.queue, ''default'')
          order by 1, 2
             on conflict do nothing', minutehand.staged_name(of_run));
end
$$;

-- Enters what a run has staged, by the rules of put_all, and writes the load into the ledger; `fresh` is false where it
-- is there already, and then nothing is entered. Of each slice only the attempt counts that is named here, and `befores`
-- says how many jobs the slices before it have, so that rows come in the order of the input. What says no moment of its
-- own comes at `starts`, or now if that is over, and all of them spread evenly over `spread`; where that is less than a
-- microsecond for each, a microsecond after the one before, so that no two share a moment and the first stays first.
--
-- A test enters the same items here and through put_all, and compares every column.
create function minutehand.enqueue_load(
    of_load text, of_run uuid, attempts text[], slices bigint[], befores bigint[], on_conflict text, rejected bigint,
    starts timestamptz default null, spread interval default null
) returns table (fresh boolean, load text, run uuid, at timestamptz, who text,
                 created bigint, replaced bigint, ignored bigint, rejects bigint)
language plpgsql volatile security definer
set search_path = minutehand, pg_temp set work_mem = '128MB' set jit = off
as $$
#variable_conflict use_column
declare
    moment timestamptz := clock_timestamp();
    base   timestamptz := greatest(starts, moment);
    own    text := minutehand.current_tenant();
    staged name := minutehand.staged_name(of_run);
    width  double precision;  -- microseconds, and no days, which a zone may stretch
    asked  text;
    total  bigint;
    keyed  bigint;
    plain  bigint;
    born   bigint;
    anew   bigint;
begin
    if on_conflict is null or on_conflict not in ('replace', 'ignore', 'raise') then
        perform minutehand.refuse('on_conflict_is_known', 'on_conflict of a load is replace, ignore or raise');
    end if;
    -- Waits for another run of this load that is about to commit.
    insert into minutehand.loads (load, run, rejected) values (of_load, of_run, enqueue_load.rejected) on conflict do nothing;
    if not found then
        return query select false, l.* from minutehand.loads l where l.load = of_load;
        return;
    end if;
    perform minutehand.check_staged(staged, own);
    select c.total, c.keyed into total, keyed from minutehand.check_items(staged, attempts, slices) c;
    if spread is not null then
        width := greatest(extract(epoch from spread) * 1e6, total);
    end if;

    asked := format(
        $q$select minutehand.uuid7() as id, i.kind, i.key, coalesce(i.payload, 'null') as payload,
                  i.headers::jsonb::minutehand.headers as headers, p.before + i.ordinal as ordinal,
                  case when i.queue is null then coalesce(d.queue, 'default') else i.queue end::minutehand.queue as queue,
                  (case when i.run_at is null and i.delay is null and $7 is not null
                             then $5 + interval '1 microsecond' * ($7 * (p.before + i.ordinal) / $8)
                        else greatest(coalesce(i.run_at, $6 + i.delay * interval '1 second', $5), $6)
                             + interval '1 microsecond' * (p.before + i.ordinal) end)::minutehand.moment as run_at,
                  coalesce(i.priority, d.priority, q.priority, 5)::minutehand.priority as priority,
                  coalesce(i.max_attempts, d.max_attempts, q.max_attempts, 8)::minutehand.max_attempts as max_attempts,
                  coalesce(i.retry::jsonb, d.retry, q.retry)::minutehand.retry as retry,
                  coalesce(i.timeout * interval '1 second', d.timeout, q.timeout)::minutehand.timeout as timeout,
                  coalesce(i.personal, false) as personal,
                  coalesce(nullif($4, ''), i.of_tenant, '')::minutehand.tenant as tenant
             from minutehand.%I i
             join unnest($1, $2, $3) p (attempt, slice, before) on p.attempt = i.attempt and p.slice = i.slice
             left join minutehand.defaults d on d.kind = i.kind
             left join minutehand.queue_defaults q on q.queue = coalesce(i.queue, d.queue, 'default')
            where i.reason is null and i.key is $q$, staged);

    execute format(
        'insert into minutehand.jobs_live
                (id, queue, kind, payload, headers, run_at, visible, priority, max_attempts, retry, timeout, personal, tenant)
         select id, queue, kind, payload, headers, run_at, run_at, priority, max_attempts, retry, timeout, personal, tenant
           from (%s null) asked', asked)
      using attempts, slices, befores, own, base, moment, width, total;
    get diagnostics plain = row_count;

    if keyed > 0 then
        execute format(
            $q$with written as (
                insert into minutehand.jobs_live as j
                       (id, queue, kind, key, payload, headers, run_at, visible, priority, max_attempts, retry, timeout,
                        personal, tenant)
                -- In the order of put_all, so that it and an enqueuer do not wait for each other.
                select distinct on (key, queue, tenant)
                       id, queue, kind, key, payload, headers, run_at, run_at, priority, max_attempts, retry, timeout,
                       personal, tenant
                  from (%s not null) asked
                 order by key, queue, tenant, ordinal %s
                    on conflict (queue, key, tenant) where key is not null and claimed is null %s
                returning xmax = 0 as born  -- of a row that was there xmax is this transaction
            ) select count(*) filter (where born), count(*) filter (where not born) from written$q$,
            asked, case when on_conflict = 'replace' then 'desc' else '' end,
            case when on_conflict = 'replace' then minutehand.replacing() else 'do nothing' end)
           into born, anew using attempts, slices, befores, own, base, moment, width, total;
        if on_conflict = 'raise' and born < keyed then
            perform minutehand.refuse('key_is_free', format('%s rows of the load have a key that an upcoming job or an earlier row has',
                                                            keyed - born), '23505');
        end if;
    end if;

    -- It took its time: what is due by now is below the floors that were raised meanwhile. Held until the end, so that
    -- nobody raises them before.
    perform from minutehand.lanes l order by l.queue, l.priority for update;
    update minutehand.lanes l set floor = moment where l.floor > moment;

    return query
    update minutehand.loads l
       set created = plain + coalesce(born, 0), replaced = coalesce(anew, 0),
           ignored = coalesce(keyed - born - anew, 0), at = clock_timestamp()
     where l.load = of_load
    returning true, l.*;
end
$$;

-- What put_all does to the upcoming job of a key that another one replaces; of a load none is debounced or recurs.
create function minutehand.replacing() returns text
language sql immutable
as $$
    select $q$do update set
           kind = excluded.kind, payload = excluded.payload, headers = excluded.headers, run_at = excluded.run_at,
           visible = excluded.visible, ack = null, prior = null, offered = null, latest = null,
           priority = excluded.priority, max_attempts = excluded.max_attempts, retry = excluded.retry,
           timeout = excluded.timeout, enqueued = clock_timestamp(), attempts = 0, error = null,
           cancelled = false, cancelling = null, every = null, zone = null, nominal = null, schedule = null,
           personal = excluded.personal
     where j.attempts > 0 or j.cancelling is not null
        or (j.run_at, j.visible, j.kind, j.payload::text, j.headers, j.priority, j.max_attempts, j.retry, j.timeout,
            j.latest, j.every, j.zone, j.nominal, j.schedule, j.personal)
           is distinct from
           (excluded.run_at, excluded.visible, excluded.kind, excluded.payload::text, excluded.headers, excluded.priority,
            excluded.max_attempts, excluded.retry, excluded.timeout, null, null, null, null, null, excluded.personal)$q$
$$;

-- Refuses a load for another tenant than the session's own, as check_tenants does.
create function minutehand.check_staged(staged name, own text) returns void
language plpgsql stable
as $$
declare
    others boolean;
begin
    if own = '-' then
        perform minutehand.refuse('tenant_is_said', 'this role enqueues for a tenant: say which one, in minutehand.as_tenant');
    elsif own <> '' then
        execute format('select exists (select from minutehand.%I where of_tenant <> $1)', staged) into others using own;
        if others then
            perform minutehand.refuse('tenant_is_own', 'who is confined to a tenant enqueues for that tenant only');
        end if;
    end if;
end
$$;

-- Refuses what check_new does, in its words, and counts the jobs that are entered, and those with a key.
create function minutehand.check_items(staged name, attempts text[], slices bigint[], out total bigint, out keyed bigint)
language plpgsql stable
as $$
declare
    most   integer := (select max_payload from minutehand.settings);
    faults boolean[];
begin
    execute format(
        'select count(*), count(i.key), array[bool_or(i.run_at is not null and i.delay is not null), bool_or(i.delay < 0),
                                              bool_or(octet_length(i.payload::text) > $3)]
           from minutehand.%I i join unnest($1, $2) p (attempt, slice) on p.attempt = i.attempt and p.slice = i.slice
          where i.reason is null', staged) into total, keyed, faults using attempts, slices, most;
    case
        when faults[1] then perform minutehand.refuse('run_at_or_delay', 'say run_at or delay, not both');
        when faults[2] then perform minutehand.refuse('delay_is_not_negative', 'delay is not negative');
        when faults[3] then perform minutehand.refuse('payload_fits', format('payload has at most %s bytes', most));
        else null;
    end case;
end
$$;

create function minutehand.grant_loader() returns void
language plpgsql volatile
as $$
begin
    grant select on minutehand.loads, minutehand.load_runs to minutehand_operator;
    grant execute on function minutehand.begin_load, minutehand.end_load, minutehand.staged_name, minutehand.announce_load,
                              minutehand.enqueue_load to minutehand_operator;
end
$$;

revoke execute on function minutehand.begin_load(text, uuid), minutehand.end_load(uuid), minutehand.staged_name(uuid),
                           minutehand.announce_load(uuid), minutehand.replacing(), minutehand.check_staged(name, text),
                           minutehand.check_items(name, text[], bigint[]),
                           minutehand.enqueue_load(text, uuid, text[], bigint[], bigint[], text, bigint, timestamptz, interval),
                           minutehand.grant_loader() from public;
select minutehand.grant_loader() where to_regrole('minutehand_operator') is not null;
