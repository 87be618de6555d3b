-- Changes of jobs by people. Operators and tenants have no direct writes on the table: a direct write could claim or
-- finish a job, take capacity with offers that no worker claims, or lock the table.
-- Each function changes the jobs of tenant_scope() only, and returns the jobs that it changed.

-- Cancels jobs that do not run. An offer of one finds nothing to claim.
create or replace function minutehand.cancel_jobs(ids uuid[], reason text)
returns table (id uuid, queue text, kind text, key text, attempts integer, max_attempts integer, tenant text, batch uuid, awaited boolean)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with cancelled as (
        update minutehand.jobs j
           set deleted = clock_timestamp(), failed = true, cancelled = true, awaited = j.awaited or minutehand.is_awaited(j.id),
               error = jsonb_build_object('type', 'Cancelled', 'message', cancel_jobs.reason::minutehand.reason)
         where j.deleted is null and j.id = any (cancel_jobs.ids) and minutehand.state(j, clock_timestamp()) <> 'running'
           and (select minutehand.tenant_scope()) in ('', j.tenant)
        returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant, j.batch, j.awaited,
                  case when coalesce(j.claimed, j.lapsed) is not null  -- the worker stopped responding
                       then minutehand.lapse(j, j.attempts, coalesce(j.claimed, j.lapsed)) end
    ), counted as (
        select minutehand.count_ends(array_agg(batch), array_agg(c.id), array_agg('cancelled'::text))
          from cancelled c where batch is not null having count(*) > 0
    )
    select id, queue, kind, key, attempts, max_attempts, tenant, batch, awaited from cancelled where (select count(*) from counted) >= 0
$$;

-- Asks running jobs to end at their next check.
create or replace function minutehand.request_cancellation(ids uuid[], reason text) returns table (id uuid, tenant text)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    update minutehand.jobs j
       set cancelling = request_cancellation.reason
     where j.deleted is null and j.id = any (request_cancellation.ids) and minutehand.state(j, clock_timestamp()) = 'running'
       and (select minutehand.tenant_scope()) in ('', j.tenant)
    returning j.id, j.tenant
$$;

-- Makes upcoming jobs due now. `expires` counts from now.
create or replace function minutehand.promote_jobs(ids uuid[])
returns table (id uuid, queue text, kind text, key text, attempts integer, max_attempts integer, tenant text)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with promoted as (
        update minutehand.jobs_live j
           set lapsed = coalesce(claimed, lapsed),
               ack = null, prior = null, offered = null, claimed = null, visible = clock_timestamp(),
               run_at = case when expires is null then least(run_at, clock_timestamp()) else clock_timestamp() end
         where j.deleted is null and j.id = any (promote_jobs.ids) and attempts < max_attempts and cancelling is null
           and minutehand.state(j, clock_timestamp()) <> 'running'
           and (select minutehand.tenant_scope()) in ('', j.tenant)
        returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant,
                  case when j.key is not null then minutehand.refuse_superseded(j.id) end
    )
    select id, queue, kind, key, attempts, max_attempts, tenant from promoted
$$;

-- Moves upcoming jobs to a time, or by a delay from now. A time in the past means now. `expires` counts from the new time. A job
-- that waits for others goes on waiting.
create or replace function minutehand.reschedule_jobs(ids uuid[], to_time timestamptz, delay interval)
returns table (id uuid, queue text, kind text, key text, attempts integer, max_attempts integer, tenant text)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with rescheduled as (
        update minutehand.jobs_live j
           set lapsed = coalesce(claimed, lapsed),
               ack = null, prior = null, offered = null, claimed = null,
               run_at = greatest(to_time, clock_timestamp() + delay, clock_timestamp()),
               visible = case when j.after is not null and j.visible = minutehand.while_waiting() then j.visible
                              else greatest(to_time, clock_timestamp() + delay, clock_timestamp()) end
         where j.deleted is null and j.id = any (reschedule_jobs.ids) and attempts < max_attempts and cancelling is null
           and minutehand.state(j, clock_timestamp()) <> 'running'
           and (select minutehand.tenant_scope()) in ('', j.tenant)
        returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant,
                  case when j.key is not null then minutehand.refuse_superseded(j.id) end
    )
    select id, queue, kind, key, attempts, max_attempts, tenant from rescheduled
$$;

-- Retries dead, expired and cancelled jobs, each after its delay and with all its attempts; not if another unfinished
-- job has the key, or if the personal payload was erased. `expires` counts from the new time.
create or replace function minutehand.retry_jobs(ids uuid[], delays interval[])
returns table (id uuid, queue text, kind text, key text, attempts integer, max_attempts integer, tenant text)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with retried as (
        update minutehand.jobs j
           set deleted = null, failed = false, cancelled = false, cancelling = null,
               -- A dead job has created its next occurrence. After a cancelled one, a later job of the key decides whether it
               -- recurs.
               every = case when j.cancelled and not exists (select from minutehand.jobs o
                                                              where o.deleted is not null and o.tenant = j.tenant and o.queue = j.queue
                                                                and o.key = j.key and o.enqueued > j.enqueued)
                            then j.every end,
               ack = null, prior = null, offered = null,
               claimed = null, attempts = 0, visible = clock_timestamp() + greatest(given.delay, interval '0'),
               run_at = case when j.expires is null then j.run_at else clock_timestamp() + greatest(given.delay, interval '0') end
          from unnest(retry_jobs.ids, retry_jobs.delays) as given (id, delay)
         where j.deleted is not null and j.failed and j.id = given.id and j.id = any (retry_jobs.ids)
           and not (j.personal and j.payload::text = 'null')
           and (select minutehand.tenant_scope()) in ('', j.tenant)
           -- Two conditions, because claimed and unclaimed keys have an index each.
           and not exists (select from minutehand.jobs_live o where o.tenant = j.tenant and o.queue = j.queue and o.key = j.key and o.claimed is null)
           and not exists (select from minutehand.jobs_live o where o.tenant = j.tenant and o.queue = j.queue and o.key = j.key and o.claimed is not null)
        returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant, j.batch,
                  case when j.key is not null then minutehand.regain_key(j.id, j.tenant, j.queue, j.key) end
    ), returned as (
        -- The snapshot of this statement has the states that the jobs had.
        select minutehand.return_to_batches(array_agg(r.batch), array_agg(r.id), array_agg(minutehand.state(j)))
          from retried r join minutehand.jobs j on j.id = r.id and j.deleted is not null
         where r.batch is not null having count(*) > 0
    )
    select id, queue, kind, key, attempts, max_attempts, tenant from retried where (select count(*) from returned) >= 0
$$;

-- Edits the named fields of upcoming jobs and returns the previous values. The edit ends a claim that has lapsed.
create or replace function minutehand.edit_jobs(
    ids uuid[], fields text[], new_payload json, new_headers jsonb, new_priority integer, new_max_attempts integer,
    new_retry jsonb, new_timeout interval, new_expires interval, new_on_dead json
) returns table (id uuid, queue text, kind text, key text, attempts integer, tenant text,
                 priority integer, max_attempts integer, retry jsonb, timeout interval, expires interval,
                 visible timestamptz)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with was as materialized (
        select j.id, j.queue, j.kind, j.key, j.attempts, j.tenant, j.priority, j.max_attempts, j.retry, j.timeout, j.expires,
               j.visible
          from minutehand.jobs j
         where j.deleted is null and j.id = any (edit_jobs.ids) and minutehand.state(j, clock_timestamp()) <> 'running'
           and j.cancelling is null
           and j.attempts < case when 'max_attempts' = any (fields) then new_max_attempts::minutehand.max_attempts
                                  else j.max_attempts end
           and (select minutehand.tenant_scope()) in ('', j.tenant)
           for update
    ), edited as (
        update minutehand.jobs j
           set payload = case when 'payload' = any (fields) then minutehand.fitting(new_payload) else j.payload end,
               headers = case when 'headers' = any (fields) then new_headers else j.headers end,
               priority = case when 'priority' = any (fields) then new_priority else j.priority end,
               max_attempts = case when 'max_attempts' = any (fields) then new_max_attempts else j.max_attempts end,
               retry = case when 'retry' = any (fields) then new_retry else j.retry end,
               timeout = case when 'timeout' = any (fields) then new_timeout else j.timeout end,
               expires = case when 'expires' = any (fields) then new_expires else j.expires end,
               on_dead = case when 'on_dead' = any (fields) then new_on_dead else j.on_dead end,
               ack = case when j.claimed is null then j.ack end, prior = case when j.claimed is null then j.prior end,
               offered = case when j.claimed is null then j.offered end, lapsed = coalesce(j.claimed, j.lapsed), claimed = null
          from was
         where j.deleted is null and j.id = any (edit_jobs.ids) and j.id = was.id
        returning was.*, case when j.key is not null then minutehand.refuse_superseded(j.id) end
    )
    select id, queue, kind, key, attempts, tenant, priority, max_attempts, retry, timeout, expires, visible from edited
$$;

-- Replaces payloads of unfinished jobs with re-encrypted ones, unless they have changed since.
create or replace function minutehand.replace_payloads(ids uuid[], former text[], payloads text[]) returns table (id uuid)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    update minutehand.jobs j
       set payload = minutehand.fitting(given.payload::json)
      from unnest(replace_payloads.ids, replace_payloads.former, replace_payloads.payloads) as given (id, former, payload)
     where j.deleted is null and j.id = given.id and j.id = any (replace_payloads.ids) and j.payload::text = given.former
       and (select minutehand.tenant_scope()) in ('', j.tenant)
    returning j.id
$$;

-- Recalls the offers of paused jobs, lapsed ones included, so that none can be claimed. A lapsed claim gets its ack back.
-- Without statistics about the condition of jobs_live_busy, the planner would scan the table.
create or replace function minutehand.recall_offers(of minutehand.bound) returns table (id uuid)
language sql volatile security definer set search_path = minutehand, pg_temp set enable_seqscan = off
as $$
    with recalled as (
        update minutehand.jobs_live j
           set ack = case when j.claimed is not null then j.prior end, prior = null, offered = null,
               visible = least(j.visible, clock_timestamp())
         where j.deleted is null and coalesce(j.offered, j.claimed) is not null and j.offered is not null and j.ack is not null
           and (j.claimed is null or j.offered > j.claimed)
           and minutehand.bounds_job(recall_offers.of, j.tenant, j.queue, j.kind, j.key, j.group)
           and (select minutehand.tenant_scope()) in ('', j.tenant)
        returning j.id, j.tenant, j.visible
    ), noted as (
        -- The snapshot of this statement has the offers as they were.
        select minutehand.note_unclaimed(array_agg(r.id), array_agg(r.tenant), array_agg(j.offered), array_agg(r.visible),
                                         array_agg(case when j.visible = r.visible then 'lapsed' else 'recalled' end))
          from recalled r join minutehand.jobs_live j on j.id = r.id
        having count(*) > 0
    )
    select r.id from recalled r where (select count(*) from noted) >= 0
$$;
