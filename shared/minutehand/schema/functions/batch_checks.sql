-- Batch checks: find that the last job of a batch has ended, exactly once and never early.
--
-- A batch has ended when it is closed and no shard has an open job. A transaction that brings a shard to zero cannot see the
-- ends, additions and closings of transactions that are still open. It does not miss them, for these reasons:
--
--   * Other transactions that bring a shard to zero, or close the batch, lock its shard 64 until they commit. The one that
--     locks it last sees all of them, because its next query has a new snapshot.
--   * A transaction that adds jobs holds a lock of the row of the batch. While there is one, the batch cannot end, and nobody
--     waits: a check is stored, and ticks repeat it until it can be decided.
--   * A transaction that gave up waiting for a lock, or that does not see what others commit, has stored its changes and a
--     check in its own transaction. The check does the same again as a transaction that ends a job, after that one's commit.

-- Ends a batch if it is closed and has no open job. The caller has brought a shard of it to zero.
create or replace function minutehand.check_batch(of_batch uuid) returns void
language plpgsql volatile
as $$
begin
    if exists (select from minutehand.batches b where b.id = of_batch and b.closed is null) then
        -- Closing waits for this lock, and then counts. Ends of jobs of an open batch do not wait for each other.
        perform from minutehand.batch_counts c where c.batch = of_batch and c.shard = 64 for key share;
        if exists (select from minutehand.batches b where b.id = of_batch and b.closed is null) then
            return;
        end if;
    end if;
    perform from minutehand.batch_counts c where c.batch = of_batch and c.shard = 64 for no key update;
    if not minutehand.try_to_end(of_batch) then
        insert into minutehand.batch_checks (batch, shard) values (of_batch, 64);
    end if;
end
$$;

-- Ends a batch if it is closed and has no open job. The caller has locked its shard 64. Returns false if that is undecided,
-- because a transaction that adds jobs is open.
create or replace function minutehand.try_to_end(of_batch uuid) returns boolean
language plpgsql volatile
as $$
begin
    if minutehand.open_jobs(of_batch) <> 0
       or not exists (select from minutehand.batches b where b.id = of_batch and b.closed is not null and b.ended is null) then
        return true;
    end if;
    perform from minutehand.batches b where b.id = of_batch for update skip locked;
    if not found then
        return false;
    end if;
    -- A transaction that added jobs may have committed before this lock.
    if minutehand.open_jobs(of_batch) = 0 then
        perform minutehand.end_batch(of_batch);
    end if;
    return true;
end
$$;

-- Returns how many jobs of a batch have not ended.
create or replace function minutehand.open_jobs(of_batch uuid) returns bigint
language plpgsql volatile
as $$
begin
    return (select coalesce((select sum(c.open) from minutehand.batch_counts c where c.batch = of_batch), 0)
                 + coalesce((select sum(a.open) from minutehand.batch_changes a where a.batch = of_batch), 0));
end
$$;

-- Makes up to `max_checks` of the stored checks, the oldest first, and returns their number. Waits for no transaction: a check
-- that would have to is stored again, after the others.
create or replace function minutehand.check_batches(max_checks integer) returns bigint
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '100ms'
as $$
declare
    ids       bigint[];
    to_check  record;
begin
    if not minutehand.sees_commits() then
        raise invalid_transaction_state using message = 'check_batches must run in an isolation level of read committed';
    end if;
    ids := array(select c.id from minutehand.batch_checks c order by c.id limit max_checks for update skip locked);
    for to_check in
        select distinct c.batch, c.shard from minutehand.batch_checks c where c.id = any (ids) order by 1, 2
    loop
        if not minutehand.try_to_check(to_check.batch, to_check.shard) then
            insert into minutehand.batch_checks (batch, shard) values (to_check.batch, to_check.shard);
        end if;
    end loop;
    delete from minutehand.batch_checks c where c.id = any (ids);
    return cardinality(ids);
end
$$;

-- Counts the changes of a shard, and checks its batch if it has no open job. Returns false if another transaction has a lock.
create or replace function minutehand.try_to_check(of_batch uuid, of_shard smallint) returns boolean
language plpgsql volatile
as $$
begin
    if not exists (select from minutehand.batches b where b.id = of_batch) then
        return true;
    elsif of_shard < 64 then
        insert into minutehand.batch_counts (batch, shard) values (of_batch, of_shard) on conflict do nothing;
        perform from minutehand.batch_counts c where c.batch = of_batch and c.shard = of_shard for update skip locked;
        if not found then
            return false;
        end if;
        perform minutehand.move_changes(array[of_batch], array[of_shard]);
        if exists (select from minutehand.batch_counts c where c.batch = of_batch and c.shard = of_shard and c.open > 0) then
            return true;
        end if;
    end if;
    perform from minutehand.batch_counts c where c.batch = of_batch and c.shard = 64 for update skip locked;
    return found and minutehand.try_to_end(of_batch);
exception
    when lock_not_available or deadlock_detected then return false;
end
$$;

-- Returns the callbacks of batches, and of those that they are nested in, that have not ended. While a check of a batch is stored,
-- returns its id and the time.
create or replace function minutehand.callbacks_of(batches uuid[]) returns table (id uuid, visible timestamptz)
language sql stable security definer set search_path = minutehand, pg_temp
as $$
    with batch as materialized (
        select b.*
          from minutehand.batches b
         where b.id in (select minutehand.batches_around(g) from unnest(callbacks_of.batches) g)
           and (select minutehand.current_tenant()) in ('', b.tenant)
    )
    select j.id, j.visible
      from batch b
      join minutehand.jobs_live j on j.id in (b.complete_job, b.failure_job)
     union all
    select distinct c.batch, clock_timestamp()
      from minutehand.batch_checks c
      join batch b on b.id = c.batch
$$;
