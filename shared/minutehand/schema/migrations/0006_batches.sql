-- Batches: jobs that belong together, and the job that is enqueued when the last of them ends.
--
--   batches        one row for each batch
--   batch_counts   how many jobs of a batch are open or have ended, in up to 64 shards
--   batch_added    jobs that were added to a shard and are not in its counts yet
--
-- The number of open jobs of a batch is the sum of `open` and `jobs` over its shards. Only a transaction that ends jobs locks a
-- row of batch_counts. Those that add jobs insert into batch_added, so that a handler's long transaction blocks no other job.

create table minutehand.batches (
    id          uuid              primary key default minutehand.uuid7(),
    -- '' without tenants, and for a batch with jobs of several tenants.
    tenant      minutehand.tenant not null default '',
    name        minutehand.label,
    created     timestamptz       not null default clock_timestamp(),
    -- From then on the batch ends with its last open job.
    closed      timestamptz,
    ended       timestamptz,
    -- The jobs to enqueue when it ends, as items of enqueue_all, and their ids once they are enqueued.
    on_complete minutehand.on_dead,
    on_failure  minutehand.on_dead,
    complete_job uuid,
    failure_job  uuid,
    -- Why a callback was not enqueued.
    error       minutehand.reason,
    -- Counts the checks for the end. Its update makes checks wait for each other.
    checks      bigint            not null default 0
) with (fillfactor = 50);
create index batches_tenant on minutehand.batches (tenant, id) where tenant <> '';
create index batches_ended on minutehand.batches (ended) where ended is not null;
create index batches_open on minutehand.batches (created) where closed is null;

create table minutehand.batch_counts (
    batch     uuid     not null,
    shard     smallint not null,
    open      integer  not null default 0,
    done      integer  not null default 0,
    dead      integer  not null default 0,
    expired   integer  not null default 0,
    cancelled integer  not null default 0,
    deleted   integer  not null default 0,
    primary key (batch, shard)
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table minutehand.batch_added (
    batch     uuid     not null,
    shard     smallint not null,
    jobs      integer  not null,
    -- Negative for jobs that ended before and are retried.
    dead      integer  not null default 0,
    expired   integer  not null default 0,
    cancelled integer  not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index batch_added_shard on minutehand.batch_added (batch, shard);

alter table minutehand.jobs add column batch uuid;
alter table minutehand.new_jobs add column batch uuid;
create index jobs_batch on minutehand.jobs (batch, id) where batch is not null;

alter table minutehand.batches enable row level security;
