-- The tables of the flow: live jobs in one partition, each day's finished jobs in another.
--
--   jobs                     every job; the ancestors' queries run on it verbatim
--     jobs_live              deleted is null: scheduled, due, offered, running, retrying
--     jobs_done              deleted is not null: done, dead, expired, cancelled
--       jobs_done_20260131   the finished jobs of one UTC day, dropped as a whole when they expire
--       jobs_done_default    finished jobs of a day without a partition, so that finishing never fails
--   new_jobs                 the options of a job, and where COPY writes jobs for enqueue_incoming
--   lanes                    the queues and priorities in use, and where in its index a scan may begin
--   lane_changes             lanes that enqueuers need, until a tick moves them to `lanes`
--
-- Facts are stored, and states are derived from them by minutehand.state(). The database's clock is the only clock.

-- The rules of a job's fields are domains. As CHECK constraints of the table, every update of a row would compile and
-- check them again (measured: a claim took 0.39 ms with them, 0.21 ms without).
create domain minutehand.kind as text
    constraint kind_is_a_name check (value ~ '^[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*$' and length(value) <= 100);
create domain minutehand.queue as text
    constraint queue_is_a_name check (value ~ '^[A-Za-z0-9][A-Za-z0-9_.-]*$' and length(value) <= 100);
create domain minutehand.tenant as text
    constraint tenant_is_a_name check (value ~ '^([A-Za-z0-9][A-Za-z0-9_.:@-]*)?$' and length(value) <= 100);
create domain minutehand.key as text
    constraint key_fits check (octet_length(value) between 1 and 1024);
create domain minutehand.priority as integer
    constraint priority_is_0_to_9 check (value between 0 and 9);
create domain minutehand.max_attempts as integer
    constraint max_attempts_is_at_least_1 check (value between 1 and 1000000);
create domain minutehand.timeout as interval
    constraint timeout_is_positive check (value > interval '0' and value <= interval '24 hours');
create domain minutehand.expires as interval
    constraint expires_is_positive check (value > interval '0' and value <= interval '3650 days');
create domain minutehand.finite_time as timestamptz
    constraint time_is_finite check (isfinite(value) and value >= '0001-01-02 00:00+00' and value < '9999-12-31 00:00+00');
create domain minutehand.headers as jsonb
    constraint headers_are_strings check (value is null or minutehand.is_headers(value));
create domain minutehand.retry as jsonb
    constraint retry_is_a_strategy check (value is null or minutehand.is_retry(value));

create domain minutehand.on_dead as json
    constraint on_dead_is_a_job check (value is null or minutehand.is_on_dead(value));
-- A longer one would take longer to read than a tick has time.
create domain minutehand.every as text
    constraint every_fits check (length(value) <= 200 or minutehand.too_large('every', length(value), 200));
-- Whether the zone exists is checked on entry: the dispatcher's list of zones may be another one.
create domain minutehand.zone as text
    constraint zone_is_known check (value ~ '^(UTC|GMT|[A-Z][A-Za-z_]*(/[A-Za-z0-9_+-]+)+)$' and length(value) <= 64);
create domain minutehand.schedule_name as text
    constraint schedule_is_named check (length(value) between 1 and 200);

-- Whatever has no stricter rule has a limit, which a test requires of every column. The library shortens its own texts, so
-- that no limit can fail a finish or a tick.
create domain minutehand.label as text
    constraint label_fits check (length(value) <= 200 or minutehand.too_large('label', length(value), 200));
create domain minutehand.reason as text
    constraint reason_fits check (length(value) <= 1000 or minutehand.too_large('reason', length(value), 1000));
create domain minutehand.payload as json constraint payload_fits check
    (octet_length(value::text) <= 67108864 or minutehand.too_large('payload', octet_length(value::text), 67108864, 'bytes'));
-- Twice max_result, because encryption makes it longer.
create domain minutehand.result as json constraint result_fits check
    (octet_length(value::text) <= 134217728 or minutehand.too_large('result', octet_length(value::text), 134217728, 'bytes'));
create domain minutehand.error as jsonb constraint error_fits check
    (octet_length(value::text) <= 65536 or minutehand.too_large('error', octet_length(value::text), 65536, 'bytes'));

create table minutehand.jobs (
    id           uuid                    not null default minutehand.uuid7(),
    -- The right to claim (while offered) or to finish (while claimed).
    ack          uuid,
    -- The ack of a lapsed claim, valid until the next claim.
    prior        uuid,
    enqueued     timestamptz             not null default clock_timestamp(),
    -- The time that the enqueuer requested; retries do not change it.
    run_at       minutehand.finite_time  not null default clock_timestamp(),
    -- When it may be offered or taken next.
    visible      minutehand.finite_time  not null default clock_timestamp(),
    offered      timestamptz,
    -- When the unfinished claim was made.
    claimed      timestamptz,
    -- When it was finished.
    deleted      timestamptz,
    timeout      minutehand.timeout,
    -- Counted at claim, so that a crash costs one.
    attempts     integer                 not null default 0,
    max_attempts minutehand.max_attempts not null default 8,
    -- 9 runs first.
    priority     minutehand.priority     not null default 5,
    failed       boolean                 not null default false,
    cancelled    boolean                 not null default false,
    queue        minutehand.queue        not null default 'default',
    kind         minutehand.kind         not null,
    key          minutehand.key,
    -- json and not jsonb, so that numbers are returned exactly as they were given.
    payload      minutehand.payload      not null default 'null',
    headers      minutehand.headers,
    retry        minutehand.retry,
    result       minutehand.result,
    -- {type, message, trace} of the latest failure. With `stage`, it did not change the ending: `result` was not stored,
    -- or the handler failed `after` its transaction.
    error        minutehand.error,
    -- '' without tenants.
    tenant       minutehand.tenant       not null default '',
    -- Payload and headers are cleared when it is finished.
    personal     boolean                 not null default false,
    -- Cron, @daily and the like, or an ISO 8601 duration: it recurs.
    every        minutehand.every,
    -- The IANA time zone of `every`.
    zone         minutehand.zone,
    -- The time of this occurrence, which run_at may differ from.
    nominal      minutehand.finite_time,
    -- The schedule that fired it.
    schedule     minutehand.schedule_name,
    -- The reason why it ends at its next check.
    cancelling   minutehand.reason,
    -- The version of the code that finished it.
    version      minutehand.label,
    -- When the previous claim was made, if it was never finished.
    lapsed       timestamptz,
    -- Until when a debounced job may be postponed.
    latest       timestamptz,
    -- The role that enqueued a job with a key, and may merge payloads into it.
    enqueued_by  minutehand.label,
    -- How long after run_at a job that has not started is still wanted.
    expires      minutehand.expires,
    -- The job to create if this one dies, as an item of enqueue_all.
    on_dead      minutehand.on_dead
) partition by list ((deleted is null));

create table minutehand.jobs_live partition of minutehand.jobs for values in (true)
with (
    -- A row has three versions in its life here. If they share a page, the write-ahead log repeats only what differs.
    fillfactor = 60,
    -- Rows of a queue die young: vacuum by count and without pauses, not by a share of the table's size.
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 5000
);
alter table minutehand.jobs_live add primary key (id);
create index jobs_live_due on minutehand.jobs_live (queue, priority, visible, id);
-- `ack` has no index: every fence also names the id. With old statistics, the planner would read that index in full.
-- Capacity is counted here: the scan begins at now(), past all entries that vacuum cannot remove yet. The condition is
-- not `ack is not null`, or the planner would use it as an index on ack.
create index jobs_live_busy on minutehand.jobs_live (visible) where coalesce(offered, claimed) is not null;
create index jobs_live_spent on minutehand.jobs_live (visible) where attempts >= max_attempts;
-- A key names one upcoming job of a tenant's queue. A claimed job leaves this index: nothing touches a running job.
create unique index jobs_live_upcoming on minutehand.jobs_live (queue, key, tenant) where key is not null and claimed is null;
-- For `unique_while`.
create index jobs_live_claimed on minutehand.jobs_live (queue, key, tenant) where key is not null and claimed is not null;
-- A tenant's jobs in a lane, the longest due first. Empty, and so free of cost, without tenants. Both end with the id, so
-- that a bounded scan can go on among many jobs of one moment.
create index jobs_live_tenant on minutehand.jobs_live (queue, priority, tenant, visible, id) where tenant <> '';
create index jobs_live_cancelling on minutehand.jobs_live (visible) where cancelling is not null;
-- minutehand.expires_at(). Not a generated column, which Postgres parses again for each row that is taken or finished.
create index jobs_live_expiring on minutehand.jobs_live ((((run_at at time zone 'UTC') + expires) at time zone 'UTC')) where expires is not null and attempts = 0;

create table minutehand.jobs_done partition of minutehand.jobs for values in (false) partition by range (deleted);
alter table minutehand.jobs_done add primary key (id, deleted);
create table minutehand.jobs_done_default partition of minutehand.jobs_done default;
-- Finished jobs of a key, and dead jobs: both are few compared with all finished jobs.
create index jobs_done_key on minutehand.jobs_done (queue, key, deleted) where key is not null;
create index jobs_done_dead on minutehand.jobs_done (deleted) where failed and not cancelled and (attempts > 0 or expires is null);
-- Done jobs whose result could not be stored.
create index jobs_done_dropped on minutehand.jobs_done (id) where not failed and error ->> 'stage' = 'result';
-- A tenant's jobs from the latest on, for pages and counts; no entry for a job without a tenant.
create index jobs_tenant on minutehand.jobs (tenant, id) where tenant <> '';

-- New jobs: the row type is an item of enqueue_all, and the table is where COPY puts the items of a bulk enqueue.
-- Each option of minutehand.NewJob has a column. A null takes the kind's default, then the queue's, then the table's.
create unlogged table minutehand.new_jobs (
    -- The bulk enqueue that the row belongs to.
    load         uuid   not null,
    ordinal      bigint not null,
    kind         text,
    payload      json,
    queue        text,
    key          text,
    run_at       timestamptz,
    delay        interval,
    priority     integer,
    max_attempts integer,
    retry        jsonb,
    timeout      interval,
    headers      jsonb,
    every        text,
    zone         text,
    nominal      timestamptz,
    schedule     text,
    personal     boolean,
    tenant       text,
    on_conflict  text,
    unique_while text,
    unique_for   interval,
    debounce     interval,
    debounce_max interval,
    throttle     interval,
    expires      interval,
    on_dead      json,
    -- Of a job without a key whose enqueuer must know the id, to bind an encrypted payload to it.
    id           uuid,
    -- COPY checks the rules here, and enqueue_all when it writes the job. As types of the columns, it would check them twice.
    constraint items_fit check (num_nulls(
        kind::minutehand.kind, payload::minutehand.payload, queue::minutehand.queue, key::minutehand.key, retry::minutehand.retry,
        headers::minutehand.headers, every::minutehand.every, zone::minutehand.zone, schedule::minutehand.schedule_name,
        tenant::minutehand.tenant, on_conflict::minutehand.label, unique_while::minutehand.label,
        on_dead::minutehand.on_dead) >= 0)
);

-- A lane is the jobs of one queue with one priority: one range of the index `jobs_live_due`. A scan that begins at the
-- floor misses no due job. Without floors a scan reads every entry that vacuum cannot remove yet because some snapshot
-- is old.
create table minutehand.lanes (
    queue    minutehand.queue    not null,
    priority minutehand.priority not null,
    -- No tick reads a lane whose floor is in the future: it has no due, offered or running job. `infinity` if it is empty.
    floor    timestamptz         not null default '-infinity',
    -- Whether a tenant's jobs were ever enqueued here: then tenants take turns.
    shared   boolean             not null default false,
    -- The transaction that found nothing to do here; see raise_floor.sql.
    idle     xid8,
    -- When it was found empty.
    emptied  timestamptz,
    primary key (queue, priority)
);
create index lanes_floor on minutehand.lanes (floor);

-- Changes of `lanes` for the next tick: a job was written that a scan of its lane might miss. No constraint and no lock
-- makes one enqueuer wait for another here.
create table minutehand.lane_changes (
    -- Null requests a sweep.
    queue    minutehand.queue,
    priority minutehand.priority,
    visible  timestamptz not null,
    shared   boolean     not null default false
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index lane_changes_lane on minutehand.lane_changes (queue, priority, visible);

-- The flow must not pay for these: its statements update `visible` in `jobs_live`, and never the columns named here. (A
-- trigger on updates of `visible` there, whose condition is false, made claims 25 % slower.)
create trigger record_lanes after insert on minutehand.jobs_live
    referencing new table as new_rows for each statement execute function minutehand.record_lanes();
create trigger record_lanes after insert on minutehand.jobs
    referencing new table as new_rows for each statement execute function minutehand.record_lanes();
create trigger record_lane after update of run_at, queue, priority on minutehand.jobs_live
    for each row when (new.visible < old.visible or new.queue <> old.queue or new.priority <> old.priority)
    execute function minutehand.record_lane();
-- Only a job that returns from `jobs_done` has an error. No trigger for statements fires when a row changes its partition.
create trigger record_return after insert on minutehand.jobs_live
    for each row when (new.error is not null) execute function minutehand.record_lane();
create trigger request_sweep after update of visible on minutehand.jobs
    for each statement execute function minutehand.request_sweep();
create trigger clear_personal before insert on minutehand.jobs_done
    for each row when (new.personal) execute function minutehand.clear_personal();
