-- The tables of retention, archive and loads, and row-level security for every table with a tenant.
--
--   retention         how long a queue's finished jobs, attempts and events are kept; the rest is kept for ever
--   kept_days         days that need no inspection before a time
--   archived_days     days that the lake has; settings.keep_until_archived makes retention wait for them
--   archive_batches   what was copied to a lake: one batch is rows of one day of one table
--   erased            jobs and tenants erased from the lake, so that no later batch restores them
--   loads             the ledger of loads: a load in it is never repeated
--   load_runs         runs in progress, each with its own table staged_<run>, which outlives a killed run
--   staged            the model of those tables

-- '' is every queue without a setting of its own; keep null is for ever.
create table minutehand.retention (
    queue minutehand.any_queue not null default '',
    what  text not null constraint retention_is_of_what_is_known
          check (what in ('done', 'dead', 'expired', 'cancelled', 'attempts', 'events')),
    keep  interval constraint keep_is_bounded check (keep between interval '0' and interval '36500 days'),
    primary key (queue, what)
);
create trigger forget_kept_days after insert or update or delete on minutehand.retention
    for each statement execute function minutehand.forget_kept_days();

create table minutehand.kept_days (
    home  minutehand.label not null,
    day   date not null,
    -- null: its rows are being deleted.
    until timestamptz,
    primary key (home, day)
);

-- For each table: the column that dates a row, the expression that classifies it, and the shortest and longest
-- retention. A null `longest` means that some of its rows may be kept for ever.
create view minutehand.retained as
select h.home, h.dated, h.classifier, min(r.keep) as shortest,
       case when bool_and(r.keep is not null) and count(*) filter (where r.queue = '') = cardinality(h.whats)
            then max(r.keep) end as longest
  from (values
       ('jobs_done', 'deleted', $$case when not p.failed then 'done' when p.cancelled then 'cancelled'
                                       when p.attempts = 0 and p.expires is not null then 'expired' else 'dead' end$$,
        '{done,dead,expired,cancelled}'::text[]),
       ('attempts', 'ended', $$'attempts'$$, '{attempts}'),
       ('events', 'at', $$'events'$$, '{events}')) h (home, dated, classifier, whats)
  join minutehand.retention r on r.what = any (h.whats)
 group by h.home, h.dated, h.classifier, h.whats;

create table minutehand.archived_days (
    home     text        not null constraint home_is_known check (home in ('jobs_done', 'attempts', 'events')),
    day      date        not null,
    archived timestamptz not null default clock_timestamp(),
    -- How many rows the lake has, and the sum of their identities; see functions/archive.sql.
    rows     bigint,
    identity numeric,
    -- Rows that were visible to this snapshot are in the lake.
    snapshot pg_snapshot default pg_current_snapshot(),
    primary key (home, day)
);

create table minutehand.archive_batches (
    home     text        not null constraint home_is_known check (home in ('jobs_done', 'attempts', 'events')),
    -- The lake's own count; row 0 records when the lake was chosen.
    number   bigint      not null,
    -- The id of the table in the lake; in row -1, what distinguishes this database from others that use the lake.
    lake     uuid        not null,
    day      date,
    rows     bigint      not null default 0,
    checksum numeric,
    identity numeric,
    archived timestamptz not null default clock_timestamp(),
    primary key (home, number)
);

create table minutehand.erased (
    what  text        not null constraint what_is_known check (what in ('job', 'tenant')),
    -- A job's id, or a tenant's name.
    value minutehand.label not null,
    at    timestamptz not null default clock_timestamp(),
    primary key (what, value)
);

create domain minutehand.load_name as text constraint load_is_named check (length(value) between 1 and 200);
create table minutehand.loads (
    load     minutehand.load_name primary key,
    run      uuid        not null,
    at       timestamptz not null default clock_timestamp(),
    actor    minutehand.label not null default session_user,
    created  bigint      not null default 0,
    replaced bigint      not null default 0,
    ignored  bigint      not null default 0,
    rejected bigint      not null default 0
);

create table minutehand.load_runs (
    run   uuid        primary key,
    load  minutehand.load_name not null,
    began timestamptz not null default clock_timestamp(),
    -- Its driver holds a lock for as long as it lives; of any other run only the time is known.
    guarded boolean not null default false
);
create index load_runs_began on minutehand.load_runs (began);

-- Larger than any text that the tasks of a load write: they check retry and headers, and shorten the text of a rejected row.
create domain minutehand.staged_text as text constraint staged_text_fits check
    (octet_length(value) <= 65536 or minutehand.too_large('staged_text', octet_length(value), 65536, 'bytes'));

-- Has the domains of jobs, so that COPY checks the rules, in parallel, and the statement that enters the jobs need not.
create unlogged table minutehand.staged (
    -- The task that staged the row. A task that was tried again stages some rows twice; one attempt's rows count.
    attempt      minutehand.label not null,
    -- A part of the input; slices are numbered in its order.
    slice        bigint not null,
    -- Of a job within its slice, from 0.
    ordinal      bigint not null,
    kind         minutehand.kind,
    payload      minutehand.payload,
    queue        minutehand.queue,
    key          minutehand.key,
    run_at       minutehand.finite_time,
    -- Seconds.
    delay        double precision,
    priority     minutehand.priority,
    max_attempts minutehand.max_attempts,
    retry        minutehand.staged_text,
    -- Seconds.
    timeout      double precision,
    headers      minutehand.staged_text,
    personal     boolean,
    of_tenant    minutehand.tenant,
    -- Of a rejected row: its file, its line, the reason, and its text.
    source       minutehand.staged_text,
    line         bigint,
    reason       minutehand.staged_text,
    raw          minutehand.staged_text
);

-- No role sees a row of these tables unless a policy in roles.sql admits it. `new_jobs` is left out: COPY FROM does not
-- support row-level security, and no role reads it.
alter table minutehand.jobs enable row level security;
alter table minutehand.jobs_live enable row level security;
alter table minutehand.jobs_done enable row level security;
alter table minutehand.jobs_done_default enable row level security;
alter table minutehand.attempts enable row level security;
alter table minutehand.attempts_default enable row level security;
alter table minutehand.events enable row level security;
alter table minutehand.events_default enable row level security;
alter table minutehand.audit enable row level security;
alter table minutehand.controls enable row level security;
alter table minutehand.firings enable row level security;
alter table minutehand.schedules enable row level security;
alter table minutehand.uniques enable row level security;
