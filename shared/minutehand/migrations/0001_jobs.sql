-- The table: one logical `jobs`, its live rows in one home and each day's finished rows in another.
--
--   jobs                     every job there is; the ancestors' queries run on it word for word
--     jobs_live              deleted is null: scheduled, due, offered, running, retrying
--     jobs_done              deleted is not null: done, dead, cancelled
--       jobs_done_20260131   one UTC day of finished jobs, dropped whole when its time has come
--       jobs_done_default    finished jobs of a day that has no partition, so that no finish ever fails
--   lanes                    every queue and priority in use, and where in its index a scan may begin
--   defaults                 what a kind's jobs get when the enqueuer says nothing
--   settings                 what holds for the whole database
--   dispatcher               when it last ticked; its row is the lock under which capacity is counted
--
-- Facts are stored and states are derived from them: see 0003. The database's clock is the only clock.

-- A version 7 UUID (RFC 9562): 48 bits of milliseconds, 12 of their fraction, then chance, so that ids sort by birth.
-- Postgres has one of its own from 18 on; this runs on every server.
create function minutehand.uuid7() returns uuid
language sql volatile parallel safe
as $$
    select encode(overlay(
        uuid_send(gen_random_uuid())
        placing int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint << 16
                         | (x'7000'::bigint + extract(microseconds from clock_timestamp())::bigint % 1000 * 4096 / 1000))
        from 1 for 8), 'hex')::uuid
$$;

-- Whether a retry strategy has only known fields, each of its type and range. Times are in seconds.
-- In plpgsql, here and below, since an SQL function would be parsed again by every statement that writes a row.
create function minutehand.is_retry(retry jsonb) returns boolean
language plpgsql immutable parallel safe
as $$
begin
    return coalesce(
        jsonb_typeof(retry) = 'object'
        and retry - '{strategy,min,max,factor,jitter}'::text[] = '{}'
        and retry ->> 'strategy' in ('fixed', 'linear', 'exponential')
        and jsonb_typeof(retry -> 'min') = 'number' and (retry ->> 'min')::numeric between 0 and 31536000
        and jsonb_typeof(retry -> 'max') = 'number'
        and (retry ->> 'max')::numeric between (retry ->> 'min')::numeric and 31536000
        and jsonb_typeof(retry -> 'factor') = 'number' and (retry ->> 'factor')::numeric between 0 and 1000
        and jsonb_typeof(retry -> 'jitter') = 'boolean', false);
end
$$;

-- Whether headers are an object of strings, at most 8 KiB in all.
create function minutehand.is_headers(headers jsonb) returns boolean
language plpgsql immutable parallel safe
as $$
begin
    return coalesce(
        jsonb_typeof(headers) = 'object'
        and octet_length(headers::text) <= 8192
        and not jsonb_path_exists(headers, '$.* ? (@.type() != "string")'), false);
end
$$;

-- The rules of a job's fields are domains and not CHECK constraints of the table, which every update of a row
-- would compile and check again (measured: a claim took 0.39 ms with them, 0.21 ms without).
create domain minutehand.kind as text
    constraint kind_is_a_name check (value ~ '^[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*$' and length(value) <= 100);
create domain minutehand.queue as text
    constraint queue_is_a_name check (value ~ '^[A-Za-z0-9][A-Za-z0-9_.-]*$' and length(value) <= 100);
create domain minutehand.key as text
    constraint key_fits check (octet_length(value) between 1 and 1024);
create domain minutehand.priority as integer
    constraint priority_is_0_to_9 check (value between 0 and 9);
create domain minutehand.max_attempts as integer
    constraint max_attempts_is_at_least_1 check (value between 1 and 1000000);
create domain minutehand.timeout as interval
    constraint timeout_is_positive check (value > interval '0' and value <= interval '24 hours');
create domain minutehand.moment as timestamptz
    constraint moment_is_finite check (isfinite(value) and value >= '0001-01-02 00:00+00' and value < '9999-12-31 00:00+00');
create domain minutehand.headers as jsonb
    constraint headers_are_strings check (value is null or minutehand.is_headers(value));
create domain minutehand.retry as jsonb
    constraint retry_is_a_strategy check (value is null or minutehand.is_retry(value));

create table minutehand.jobs (
    id           uuid                    not null default minutehand.uuid7(),
    ack          uuid,                                                         -- the right to claim (offered) or to finish (claimed)
    prior        uuid,                                                         -- the ack of a lapsed claim, good until the next claim
    enqueued     timestamptz             not null default clock_timestamp(),
    run_at       minutehand.moment       not null default clock_timestamp(),   -- when it was asked to run; retries leave it alone
    visible      minutehand.moment       not null default clock_timestamp(),   -- when it may be offered or taken next
    offered      timestamptz,
    claimed      timestamptz,                                                  -- when the claim that is not settled yet was made
    deleted      timestamptz,                                                  -- when it was finished
    timeout      minutehand.timeout,
    attempts     integer                 not null default 0,                   -- counted at claim, so that a crash costs one
    max_attempts minutehand.max_attempts not null default 8,
    priority     minutehand.priority     not null default 5,                   -- 9 goes first
    failed       boolean                 not null default false,
    cancelled    boolean                 not null default false,
    queue        minutehand.queue        not null default 'default',
    kind         minutehand.kind         not null,
    key          minutehand.key,
    payload      json                    not null default 'null',              -- json, not jsonb: numbers come back as they went in
    headers      minutehand.headers,
    retry        minutehand.retry,
    result       json,
    error        jsonb                                                         -- {type, message, trace} of the latest failure
) partition by list ((deleted is null));

create table minutehand.jobs_live partition of minutehand.jobs for values in (true)
with (
    fillfactor = 80,
    -- A queue's table dies young: clean by count and without pause, not by share of its size.
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 5000
);
alter table minutehand.jobs_live add primary key (id);
create index jobs_live_due on minutehand.jobs_live (queue, priority, visible);
-- Capacity is counted from here: the scan begins at now, above all that vacuum may not remove yet. Its condition is
-- not `ack is not null`, or the planner would take it for an index on an ack.
create index jobs_live_busy on minutehand.jobs_live (visible) where coalesce(offered, claimed) is not null;
create index jobs_live_spent on minutehand.jobs_live (visible) where attempts >= max_attempts;
create unique index jobs_live_ack on minutehand.jobs_live (ack) where ack is not null;
-- A key names one upcoming job of a queue. A claimed one has left the index: a running job is never touched.
create unique index jobs_live_upcoming on minutehand.jobs_live (queue, key) where key is not null and claimed is null;

create table minutehand.jobs_done partition of minutehand.jobs for values in (false) partition by range (deleted);
alter table minutehand.jobs_done add primary key (id, deleted);
create table minutehand.jobs_done_default partition of minutehand.jobs_done default;

-- A lane is the jobs of one queue that share a priority: one run of the index `jobs_live_due`. Nothing above the
-- floor is ever missed by a scan that begins there; without it a scan wades through every entry that vacuum may
-- not remove yet because somebody's snapshot is old.
create table minutehand.lanes (
    queue    minutehand.queue    not null,
    priority minutehand.priority not null,
    floor    timestamptz         not null default '-infinity',
    primary key (queue, priority)
);

create table minutehand.defaults (
    kind         minutehand.kind primary key,
    queue        minutehand.queue,
    priority     minutehand.priority,
    max_attempts minutehand.max_attempts,
    timeout      minutehand.timeout,
    retry        minutehand.retry
);

create table minutehand.settings (
    one         boolean primary key default true constraint settings_are_one_row check (one),
    max_payload integer not null default 262144 constraint max_payload_is_1_byte_to_64_mib
                check (max_payload between 1 and 67108864)
);
insert into minutehand.settings default values;

create table minutehand.dispatcher (
    one    boolean     primary key default true constraint dispatcher_is_one_row check (one),
    ticked timestamptz not null default '-infinity',
    swept  timestamptz not null default '-infinity'
);
insert into minutehand.dispatcher default values;

-- A row that comes in with an earlier `visible` lowers its lane's floor, whoever writes it and however. Not on
-- update: the condition alone made a claim 25 % slower, and the sweep finds what is moved below the floor by hand.
create function minutehand.lower_floor() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    insert into minutehand.lanes as l (queue, priority, floor) values (new.queue, new.priority, new.visible)
        on conflict (queue, priority) do update set floor = excluded.floor where l.floor > excluded.floor;
    return null;
end
$$;
create trigger an_earlier_visible_lowers_the_floor after insert on minutehand.jobs_live
    for each row when (new.visible < now() - interval '30 seconds') execute function minutehand.lower_floor();

-- Makes the partitions of today and the days ahead; says how many were new. A day whose rows are already in
-- the default partition stays there. Short of a lock for two seconds it gives up: the next tick tries again.
create function minutehand.make_days(ahead integer default 7, today date default (now() at time zone 'UTC')::date)
returns integer
language plpgsql security definer set search_path = minutehand, pg_temp set lock_timeout = '2s'
as $$
declare
    day   date;
    name  text;
    made  integer := 0;
begin
    for day in select today + n from generate_series(0, ahead) n loop
        name := 'jobs_done_' || to_char(day, 'YYYYMMDD');
        continue when to_regclass('minutehand.' || name) is not null;
        begin
            execute format('create table minutehand.%I (like minutehand.jobs_done including defaults including constraints)', name);
            execute format('alter table minutehand.jobs_done attach partition minutehand.%I for values from (%L) to (%L)',
                           name, day::text || ' 00:00+00', (day + 1)::text || ' 00:00+00');
            made := made + 1;
        exception
            -- The last: another session makes the same day at this moment.
            when check_violation or lock_not_available or duplicate_table or unique_violation then null;
        end;
    end loop;
    return made;
end
$$;
select minutehand.make_days();
