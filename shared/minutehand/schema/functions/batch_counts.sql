-- Batch counts: add jobs to batches, count their ends, and find the last one of each batch.
--
-- Every transaction takes its locks in the same order, so that transactions that end jobs do not deadlock: rows of jobs, then
-- shards by batch and number, then batches by id.

-- Adds new jobs to their batches, in the statement that enqueues them. Refuses a batch that has ended or is another tenant's.
create or replace function minutehand.add_to_batches(batches uuid[], jobs uuid[], tenants text[], session_tenant text) returns boolean
language plpgsql volatile
as $$
declare
    fault record;
begin
    -- The batch cannot end before this transaction does. Jobs that end need not wait for this lock.
    perform from minutehand.batches b where b.id = any (add_to_batches.batches) order by b.id for key share;
    select g.batch, b.id is null as absent into fault
      from unnest(add_to_batches.batches, tenants) g (batch, tenant)
      left join minutehand.batches b
             on b.id = g.batch and (b.tenant = g.tenant or b.tenant = '' and session_tenant = '')
     where b.id is null or b.ended is not null
     limit 1;
    if found then
        perform minutehand.refuse('batch_is_open', format(case when fault.absent then 'batch %s does not exist'
            else 'batch %s has ended; a job must be added while the batch is open or one of its jobs runs' end, fault.batch));
    end if;
    insert into minutehand.batch_added (batch, shard, jobs)
    select g.batch, minutehand.shard_of(g.job), count(*) from unnest(add_to_batches.batches, jobs) g (batch, job) group by 1, 2;
    return true;
end
$$;

-- Returns jobs to their batches, in the statement that retries them. A batch that has ended is open again; each of its callbacks
-- is still enqueued once at most.
create or replace function minutehand.return_to_batches(batches uuid[], jobs uuid[], states text[]) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    perform from minutehand.batches b where b.id = any (return_to_batches.batches) order by b.id for key share;
    insert into minutehand.batch_added (batch, shard, jobs, dead, expired, cancelled)
    select g.batch, minutehand.shard_of(g.job), count(*), - count(*) filter (where g.state = 'dead'),
           - count(*) filter (where g.state = 'expired'), - count(*) filter (where g.state = 'cancelled')
      from unnest(return_to_batches.batches, jobs, states) g (batch, job, state)
     where exists (select from minutehand.batches b where b.id = g.batch)
     group by 1, 2;
    update minutehand.batches b set ended = null
     where b.id in (select b.id from minutehand.batches b where b.id = any (return_to_batches.batches) and b.ended is not null
                     order by b.id for no key update);
    return true;
end
$$;

-- Counts the ends of jobs of batches, in the statement that ends them. The one that ends the last open job of a batch ends it.
-- `outcomes` are done, dead, expired, cancelled or deleted. Returns true.
create or replace function minutehand.count_ends(batches uuid[], jobs uuid[], outcomes text[]) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    empty_batches uuid[];
    empty_shards  smallint[];
    each_batch    uuid;
begin
    with counted as (
        insert into minutehand.batch_counts as c (batch, shard, open, done, dead, expired, cancelled, deleted)
        select e.batch, minutehand.shard_of(e.job), - count(*), count(*) filter (where e.outcome = 'done'),
               count(*) filter (where e.outcome = 'dead'), count(*) filter (where e.outcome = 'expired'),
               count(*) filter (where e.outcome = 'cancelled'), count(*) filter (where e.outcome = 'deleted')
          from unnest(count_ends.batches, jobs, outcomes) e (batch, job, outcome)
         where e.batch is not null
         group by 1, 2
         order by 1, 2
            on conflict (batch, shard)
            do update set open = c.open + excluded.open, done = c.done + excluded.done, dead = c.dead + excluded.dead,
                          expired = c.expired + excluded.expired, cancelled = c.cancelled + excluded.cancelled,
                          deleted = c.deleted + excluded.deleted
        returning c.batch, c.shard, c.open
    )
    select array_agg(batch), array_agg(shard) into empty_batches, empty_shards from counted where open <= 0;
    if empty_batches is null then
        return true;
    end if;
    perform minutehand.count_added(empty_batches, empty_shards);
    for each_batch in
        select distinct c.batch
          from minutehand.batch_counts c
          join unnest(empty_batches, empty_shards) e (batch, shard) on c.batch = e.batch and c.shard = e.shard
         where c.open <= 0
         order by 1
    loop
        perform minutehand.check_batch(each_batch);
    end loop;
    return true;
end
$$;

-- Moves jobs that were added to these shards into their counts. The caller has locked the shards.
create or replace function minutehand.count_added(of_batches uuid[], of_shards smallint[]) returns void
language sql volatile
as $$
    with moved as (
        delete from minutehand.batch_added a using unnest(of_batches, of_shards) e (batch, shard)
         where a.batch = e.batch and a.shard = e.shard
        returning a.*
    ), sums as (
        select batch, shard, sum(jobs) as jobs, sum(dead) as dead, sum(expired) as expired, sum(cancelled) as cancelled
          from moved
         group by batch, shard
    )
    update minutehand.batch_counts c
       set open = c.open + s.jobs, dead = c.dead + s.dead, expired = c.expired + s.expired, cancelled = c.cancelled + s.cancelled
      from sums s
     where c.batch = s.batch and c.shard = s.shard
$$;

-- Ends a batch if it is closed and has no open job. The caller has brought a shard of it to zero.
-- Each query has a new snapshot: it sees what the transactions that this one waited for have committed.
create or replace function minutehand.check_batch(of_batch uuid) returns void
language plpgsql volatile
as $$
begin
    if exists (select from minutehand.batches b where b.id = of_batch and b.closed is null) then
        -- If the batch is still open, its closing waits for this transaction and then counts.
        perform from minutehand.batches b where b.id = of_batch and b.closed is null for key share;
        if found then
            return;
        end if;
    end if;
    -- Two transactions that bring the last two shards to zero wait for each other here, so that the second one sees both.
    update minutehand.batches b set checks = b.checks + 1 where b.id = of_batch and b.ended is null;
    if not found or minutehand.open_jobs(of_batch) <> 0 then
        return;
    end if;
    -- Waits for transactions that add jobs.
    perform from minutehand.batches b where b.id = of_batch for update;
    if minutehand.open_jobs(of_batch) = 0 then
        perform minutehand.end_batch(of_batch);
    end if;
end
$$;

-- Returns how many jobs of a batch have not ended.
create or replace function minutehand.open_jobs(of_batch uuid) returns bigint
language plpgsql volatile
as $$
begin
    return (select coalesce((select sum(c.open) from minutehand.batch_counts c where c.batch = of_batch), 0)
                 + coalesce((select sum(a.jobs) from minutehand.batch_added a where a.batch = of_batch), 0));
end
$$;
