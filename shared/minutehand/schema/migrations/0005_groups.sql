-- Groups: jobs of which a limited number run at once.

create domain minutehand.job_group as text constraint group_fits check (octet_length(value) between 1 and 1024);

-- The jobs of a group run one at a time, or as its limit declares. It is a group of a queue and a tenant, like a key.
alter table minutehand.jobs add "group" minutehand.job_group;

alter table minutehand.new_jobs add "group" text;
alter table minutehand.new_jobs drop constraint items_fit;
alter table minutehand.new_jobs add constraint items_fit check (num_nulls(
    kind::minutehand.kind, payload::minutehand.payload, queue::minutehand.queue, key::minutehand.key, "group"::minutehand.job_group,
    retry::minutehand.retry, headers::minutehand.headers, every::minutehand.every, zone::minutehand.zone,
    schedule::minutehand.schedule_name, tenant::minutehand.tenant, on_conflict::minutehand.label, unique_while::minutehand.label,
    on_dead::minutehand.on_dead) >= 0);

-- For a scan from one group to the next; jobs without a group have no entry.
create index jobs_live_group on minutehand.jobs_live (queue, priority, tenant, "group", visible) where "group" is not null;
-- For the order of a group.
create index jobs_live_group_order on minutehand.jobs_live (queue, tenant, "group", run_at, id) where "group" is not null;

-- Whether a job with a group was ever enqueued here: then groups take turns.
alter table minutehand.lanes add grouped boolean not null default false;
alter table minutehand.lane_changes add grouped boolean not null default false;

-- The groups at which the last scan of each stream ended. See positions.
create table minutehand.group_turns (
    queue    minutehand.queue     not null,
    priority minutehand.priority  not null,
    whole    boolean              not null,
    part     minutehand.tenant    not null,
    tenant   minutehand.tenant    not null,
    "group"  minutehand.job_group not null,
    at       timestamptz          not null default clock_timestamp(),
    primary key (queue, priority, whole, part)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Locked until the end of a transaction that starts jobs under limits or of groups; see counting.sql.
create table minutehand.counted_queues (queue minutehand.label primary key);

create domain minutehand.any_group as text
    constraint group_fits check (value = '' or value::minutehand.job_group is not null);
create domain minutehand.rate_value as text constraint rate_value_fits check (octet_length(value) <= 2048);

-- Limits of groups, of each group, key or tenant, and of starts.
alter table minutehand.controls
    add id       bigint generated always as identity unique,
    add "group"  minutehand.any_group not null default '',
    -- A limit of each group, key or tenant.
    add per      text not null default '' constraint per_is_known check (per in ('', 'group', 'key', 'tenant')),
    -- How many may start in each period, and how many of these at the same time.
    add rate     integer  constraint rate_is_at_least_1 check (rate between 1 and 1000000),
    add period   interval constraint period_is_bounded check (period between interval '1 ms' and interval '31 days'),
    add burst    integer  constraint burst_is_at_least_1 check (burst between 1 and 1000000),
    -- The jobs of a group start in the order of run_at.
    add in_order boolean,
    -- Whether a dead job of an ordered group blocks the group.
    add on_dead  text     constraint order_ends check (on_dead in ('block', 'continue') and in_order),
    -- A circuit breaker: after how many consecutive failures a group pauses, and for how long.
    add break_after integer  constraint break_after_is_at_least_1 check (break_after between 1 and 1000000),
    add break_for   interval constraint break_is_bounded check (break_for between interval '1 s' and interval '31 days'),
    add limited  boolean  generated always as (num_nonnulls(max_running, rate, in_order, break_after) > 0) stored,
    drop constraint controls_pkey,
    add primary key (tenant, queue, kind, key, "group", per),
    add constraint per_is_of_each check (not (per = 'group' and "group" <> '' or per = 'key' and key <> '' or per = 'tenant' and tenant <> '')),
    add constraint pause_is_not_per check (not paused or per = ''),
    add constraint rate_has_a_period check (num_nonnulls(rate, period, burst) in (0, 3)),
    add constraint breaker_is_of_groups check
        (num_nonnulls(break_after, break_for) in (0, 2)
         and (break_after is null or kind = '' and key = '' and (per = 'group' or "group" <> ''))),
    add constraint order_is_of_groups check (in_order is null or kind = '' and key = '' and (per = 'group' or "group" <> ''));

-- When the jobs of a rate would end if they had started evenly; of each group, key or tenant, for a limit per one of them.
create table minutehand.rates (
    control bigint not null,
    value   minutehand.rate_value not null default '',
    due     timestamptz not null,
    primary key (control, value)
) with (fillfactor = 70);
create index rates_due on minutehand.rates (due);

-- Groups that a dead job blocks.
create table minutehand.blocked_groups (
    queue   minutehand.queue     not null,
    tenant  minutehand.tenant    not null,
    "group" minutehand.job_group not null,
    job     uuid                 not null,
    -- When the job became dead, and when the block was last examined; see prune_groups.
    at       timestamptz         not null default clock_timestamp(),
    examined timestamptz         not null default clock_timestamp(),
    primary key (queue, tenant, "group", job)
);
create index blocked_groups_job on minutehand.blocked_groups (job);
create index blocked_groups_examined on minutehand.blocked_groups (examined);
create trigger block_group after insert on minutehand.jobs_done
    for each row when (new."group" is not null and new.failed and not new.cancelled and (new.attempts > 0 or new.expires is null))
    execute function minutehand.block_group();
create trigger unblock_group after insert on minutehand.jobs_live
    for each row when (new."group" is not null and new.error is not null) execute function minutehand.unblock_group();


-- The group of a candidate, or ''.
alter type minutehand.candidate add attribute "group" text;
alter type minutehand.due_lane add attribute grouped boolean;

-- A bound on jobs, from a limit, a pause or a budget; see limits.sql.
create type minutehand.bound as (
    id bigint, tenant text, queue text, kind text, key text, "group" text, per text, starts boolean, value text, free integer
);
-- A job that is counted, and its place in the order in which jobs are chosen.
create type minutehand.counted_job as (
    id uuid, tenant text, queue text, kind text, key text, "group" text, turn bigint, visible timestamptz
);
-- A group of a stream that a round visited, and its next job, if that may start.
create type minutehand.group_visit as (
    queue text, priority integer, whole boolean, part text, tenant text, "group" text, place integer, id uuid
);

alter table minutehand.group_turns enable row level security;
alter table minutehand.blocked_groups enable row level security;
