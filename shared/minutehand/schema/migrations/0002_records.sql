-- The tables around the flow: keys, defaults, settings, capacity, controls, history and schedules.
--
--   uniques          keys that are taken for a period, or while a job of theirs runs
--   superseded       running jobs whose key was enqueued again
--   defaults         options of a kind's jobs, if the enqueuer omits them
--   queue_defaults   options of a queue's jobs, if enqueuer and kind omit them
--   settings         settings of the whole database
--   dispatcher       when it last ticked; its row is the lock under which capacity is counted
--   budgets          how many jobs of a queue may be offered or running at once, reduced when offers lapse
--   controls         pauses and limits, by queue, kind, key, tenant or a combination
--   tenant_roles     roles that are bound to one tenant
--   attempts         every attempt at a job, in day partitions by its end
--   events           state changes of jobs, if they are stored here, in day partitions
--   audit            changes by people: actor, action and time
--   schedules        recurring definitions; firings is the ledger of their occurrences

create table minutehand.uniques (
    tenant minutehand.tenant not null default '',
    queue  minutehand.queue  not null,
    key    minutehand.key    not null,
    until  timestamptz       not null,
    job    uuid              not null,
    primary key (queue, key, tenant)
);
create index uniques_until on minutehand.uniques (until);

-- A row and not a column of `jobs`: the enqueuer of a key must not lock a running job, whose worker would wait to finish it.
create table minutehand.superseded (
    job uuid primary key
);

create table minutehand.defaults (
    kind         minutehand.kind primary key,
    queue        minutehand.queue,
    priority     minutehand.priority,
    max_attempts minutehand.max_attempts,
    timeout      minutehand.timeout,
    retry        minutehand.retry,
    on_dead      minutehand.on_dead
);
create table minutehand.queue_defaults (
    queue        minutehand.queue primary key,
    priority     minutehand.priority,
    max_attempts minutehand.max_attempts,
    timeout      minutehand.timeout,
    retry        minutehand.retry,
    on_dead      minutehand.on_dead
);

create table minutehand.settings (
    one                 boolean primary key default true constraint settings_are_one_row check (one),
    max_payload         integer not null default 262144
                        constraint max_payload_is_1_byte_to_64_mib check (max_payload between 1 and 67108864),
    -- Workers read it only for results that are larger than the minimum.
    max_result          integer not null default 262144
                        constraint max_result_is_16_kib_to_64_mib check (max_result between 16384 and 67108864),
    keep_until_archived boolean not null default false,
    -- A job that has waited for so long counts one priority higher.
    priority_step       interval not null default '1 hour'
                        constraint priority_step_is_bounded check (priority_step between '1 second' and '36500 days')
);
insert into minutehand.settings default values;

create table minutehand.dispatcher (
    one    boolean     primary key default true constraint dispatcher_is_one_row check (one),
    ticked timestamptz not null default '-infinity',
    swept  timestamptz not null default '-infinity',
    -- The tick before the last one: lapses between the two are counted once.
    since  timestamptz not null default '-infinity',
    -- All transactions that had begun to write at `settled` have ended; so have all with an id below `settled_xid`.
    settled     timestamptz not null default '-infinity',
    settled_xid xid8        not null default '0',
    -- The next values of the two, when the transactions that were writing in this snapshot have ended.
    marked timestamptz,
    mark   pg_snapshot
);
insert into minutehand.dispatcher default values;

-- Without budgets, workers that cannot keep up would be invited again and again for the same backlog, at the expense of
-- other queues. A queue without lapses has no row.
create table minutehand.budgets (
    queue  minutehand.queue primary key,
    budget integer          not null constraint budget_is_at_least_1 check (budget >= 1),
    -- The latest lapse; ten minutes later the budget starts to grow again.
    lapsed timestamptz      not null constraint lapsed_is_finite check (isfinite(lapsed))
);

-- A lane that may have due jobs, and where to scan it from.
create type minutehand.due_lane as (queue text, priority integer, floor timestamptz, shared boolean);

-- '' matches any.
create domain minutehand.any_queue as text constraint queue_is_a_name check (value = '' or value::minutehand.queue is not null);
create domain minutehand.any_kind as text constraint kind_is_a_name check (value = '' or value::minutehand.kind is not null);
create domain minutehand.any_key as text constraint key_fits check (value = '' or value::minutehand.key is not null);
create table minutehand.controls (
    tenant  minutehand.tenant    not null default minutehand.current_tenant(),
    queue   minutehand.any_queue not null default '',
    kind    minutehand.any_kind  not null default '',
    key     minutehand.any_key   not null default '',
    paused  boolean              not null default false,
    -- How many may be offered or running at once.
    max_running integer          constraint limit_is_at_least_0 check (max_running >= 0),
    -- When the pause ends by itself.
    until   timestamptz,
    reason  minutehand.reason,
    changed timestamptz          not null default clock_timestamp(),
    primary key (tenant, queue, kind, key)
);

-- A role in this table acts for its tenant whatever its session sets: a login per tenant enforces a separation that
-- otherwise only prevents mistakes.
create table minutehand.tenant_roles (
    role   name              primary key,
    tenant minutehand.tenant not null constraint tenant_is_set check (tenant <> '')
);

create table minutehand.attempts (
    job       uuid              not null,
    attempt   integer           not null,
    started   timestamptz       not null,
    ended     timestamptz       not null default clock_timestamp(),
    -- Lambda bills this, multiplied by the duration.
    memory_mb integer,
    tenant    minutehand.tenant not null default '',
    queue     minutehand.queue  not null,
    kind      minutehand.kind   not null,
    -- An ending of `finish`, or lapsed.
    outcome   minutehand.label  not null,
    -- The function or process that held the claim.
    worker    minutehand.label,
    -- Lambda's request id.
    request   minutehand.label,
    -- The version of the code that handled it.
    version   minutehand.label,
    error     minutehand.error,
    -- The partial result of a failed attempt.
    result    minutehand.result
) partition by range (ended);
alter table minutehand.attempts add primary key (job, ended, attempt);
create table minutehand.attempts_default partition of minutehand.attempts default;

-- Of events and audit entries, which never contain a payload.
create domain minutehand.facts as jsonb constraint facts_fits check
    (octet_length(value::text) <= 65536 or minutehand.too_large('facts', octet_length(value::text), 65536, 'bytes'));

create table minutehand.events (
    id     uuid              not null default minutehand.uuid7(),
    at     timestamptz       not null default clock_timestamp(),
    tenant minutehand.tenant not null default '',
    name   minutehand.label  not null,
    job    uuid,
    queue  minutehand.label,
    kind   minutehand.label,
    facts  minutehand.facts
) partition by range (at);
alter table minutehand.events add primary key (at, id);
create index events_job on minutehand.events (job, at);
create table minutehand.events_default partition of minutehand.events default;

create table minutehand.audit (
    id     uuid              primary key default minutehand.uuid7(),
    at     timestamptz       not null default clock_timestamp(),
    tenant minutehand.tenant not null default minutehand.current_tenant(),
    -- The actor that the caller named, else the database's user.
    actor  minutehand.label  not null,
    verb   minutehand.label  not null,
    job    uuid,
    -- The details of the change.
    facts  minutehand.facts
);
create index audit_job on minutehand.audit (job) where job is not null;

create domain minutehand.source as text
    constraint source_fits check (length(value) <= 200 or minutehand.too_large('source', length(value), 200));
-- A payload, and the other options.
create domain minutehand.job_template as json constraint job_fits check
    (octet_length(value::text) <= 68157440 or minutehand.too_large('job', octet_length(value::text), 68157440, 'bytes'));

create table minutehand.schedules (
    tenant   minutehand.tenant not null default minutehand.current_tenant(),
    name     minutehand.schedule_name not null,
    -- Cron of 5 or 6 fields, @daily and the like, or an ISO 8601 duration.
    every    minutehand.every  not null,
    zone     minutehand.zone   not null default 'UTC',
    starts   minutehand.finite_time,
    ends     minutehand.finite_time constraint schedule_ends_later check (ends > starts),
    -- The longest delay; each firing of a name is delayed by the same part of it.
    jitter   interval          not null default '0'
             constraint jitter_is_up_to_a_day check (jitter between interval '0' and interval '24 hours'),
    -- How long before its occurrence a job is enqueued.
    ahead    interval          not null default '0'
             constraint ahead_is_up_to_a_month check (ahead between interval '0' and interval '31 days'),
    catch_up text              not null default 'none'
             constraint catch_up_is_known check (catch_up in ('none', 'last', 'all')),
    -- With catch_up all: the maximum number of occurrences.
    max_catch_up integer       not null default 100
             constraint max_catch_up_is_1_to_1000 check (max_catch_up between 1 and 1000),
    overlap  text              not null default 'allow'
             constraint overlap_is_known check (overlap in ('allow', 'skip', 'replace')),
    -- The job to enqueue: kind, payload and options.
    job      minutehand.job_template not null,
    paused   boolean           not null default false,
    -- The code that declares it, and a hash of the declaration.
    source   minutehand.source,
    hash     minutehand.label,
    -- The next occurrence; null when the schedule is over.
    next     minutehand.finite_time,
    -- When the dispatcher handles it: next, minus ahead.
    wake     minutehand.finite_time,
    -- The last occurrence that fired, and its job.
    fired    timestamptz,
    last     uuid,
    -- {type, message, at}: why its last occurrence did not fire.
    error    minutehand.error,
    created  timestamptz       not null default clock_timestamp(),
    changed  timestamptz       not null default clock_timestamp(),
    primary key (tenant, name),
    constraint ahead_allows_overlap check (ahead = interval '0' or overlap = 'allow')
);
create index schedules_wake on minutehand.schedules (wake) where not paused and wake is not null;

create table minutehand.firings (
    tenant   minutehand.tenant not null default '',
    schedule minutehand.schedule_name not null,
    nominal  timestamptz       not null,
    fired    timestamptz       not null default clock_timestamp(),
    -- fired, requested, skipped, missed or refused.
    outcome  minutehand.label  not null,
    -- How many occurrences the row stands for, if several were missed.
    count    integer           not null default 1,
    job      uuid,
    primary key (tenant, schedule, nominal)
);
create index firings_nominal on minutehand.firings (nominal);
