-- Batches: jobs that belong together, and the job that is enqueued when the last of them ends.
--
--   batches        one row for each batch
--   batch_counts   how many jobs of a batch are open or have ended, in up to 64 shards
--   batch_changes  what is not in the counts of a shard yet: jobs that were added, and ends that would have had to wait
--   batch_checks   shards to check for the end of their batch, because the transaction that ended a job could not do so
--
-- The number of open jobs of a batch is the sum of `open` over its counts and changes. A transaction that adds jobs locks the
-- row of the batch and inserts changes; one that ends jobs locks shards. So neither waits for the other.

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
    -- The batch that it is nested in, of which it counts as one job.
    parent      uuid
) with (fillfactor = 50);
create index batches_tenant on minutehand.batches (tenant, id) where tenant <> '';
create index batches_ended on minutehand.batches (ended) where ended is not null;
create index batches_parent on minutehand.batches (parent, id) where parent is not null;
create index batches_open on minutehand.batches (created) where closed is null;

create table minutehand.batch_counts (
    batch     uuid     not null,
    -- 0 to 63. The row of shard 64 counts nothing: transactions that check the batch for its end lock it.
    shard     smallint not null,
    open      integer  not null default 0,
    done      integer  not null default 0,
    dead      integer  not null default 0,
    expired   integer  not null default 0,
    cancelled integer  not null default 0,
    deleted   integer  not null default 0,
    primary key (batch, shard)
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Rows are only inserted, which waits for no other transaction.
create table minutehand.batch_changes (
    batch     uuid     not null,
    shard     smallint not null,
    open      integer  not null default 0,
    done      integer  not null default 0,
    -- Negative for jobs that ended before and are retried.
    dead      integer  not null default 0,
    expired   integer  not null default 0,
    cancelled integer  not null default 0,
    deleted   integer  not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index batch_changes_shard on minutehand.batch_changes (batch, shard);

-- Insert only, too. The next tick checks these shards; one that it cannot check yet goes to the end.
create table minutehand.batch_checks (
    id    bigint   generated always as identity primary key,
    batch uuid     not null,
    shard smallint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

alter table minutehand.jobs add column batch uuid;
alter table minutehand.new_jobs add column batch uuid;
create index jobs_batch on minutehand.jobs (batch, id) where batch is not null;

alter table minutehand.batches enable row level security;
