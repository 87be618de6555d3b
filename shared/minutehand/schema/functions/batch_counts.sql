-- Batch counts: add jobs to batches, and count their ends. batch_checks.sql finds the last one of each batch.
--
-- Every transaction takes its locks in the same order, so that transactions that end jobs do not deadlock: rows of jobs, then
-- shards by batch and number, then shards 64 by batch, then batches.

-- Adds new jobs to their batches, in the statement that enqueues them. Refuses a batch that has ended or is another tenant's.
create or replace function minutehand.add_to_batches(batches uuid[], jobs uuid[], tenants text[], session_tenant text) returns boolean
language plpgsql volatile
as $$
declare
    fault record;
begin
    perform minutehand.hold_batches(add_to_batches.batches);
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
    insert into minutehand.batch_changes (batch, shard, open)
    select g.batch, minutehand.shard_of(g.job), count(*) from unnest(add_to_batches.batches, jobs) g (batch, job) group by 1, 2;
    return true;
end
$$;

-- Returns jobs to their batches, in the statement that retries them. A batch that has ended is open again; each of its callbacks
-- is still enqueued once at most.
create or replace function minutehand.return_to_batches(batches uuid[], jobs uuid[], states text[]) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    parents uuid[];
    nested  uuid[];
begin
    perform minutehand.hold_batches(return_to_batches.batches);
    insert into minutehand.batch_changes (batch, shard, open, dead, expired, cancelled)
    select g.batch, minutehand.shard_of(g.job), count(*), - count(*) filter (where g.state = 'dead'),
           - count(*) filter (where g.state = 'expired'), - count(*) filter (where g.state = 'cancelled')
      from unnest(return_to_batches.batches, jobs, states) g (batch, job, state)
     where exists (select from minutehand.batches b where b.id = g.batch)
     group by 1, 2;
    with reopened as (
        update minutehand.batches b set ended = null
         where b.id in (select b.id from minutehand.batches b where b.id = any (return_to_batches.batches) and b.ended is not null
                         order by b.id for no key update)
        returning b.id, b.parent
    )
    select array_agg(r.parent), array_agg(r.id) into parents, nested from reopened r where r.parent is not null;
    -- A parent counted a batch with such jobs as dead.
    return parents is null or minutehand.return_to_batches(parents, nested, array_fill('dead'::text, array[cardinality(nested)]));
end
$$;

-- Locks batches, so that they do not end before this transaction does. Jobs that end do not wait for this lock.
-- With an older snapshot than this statement's, the transaction would not see that a batch has ended meanwhile. `for share`
-- then raises SQLSTATE 40001, because the row has changed.
create or replace function minutehand.hold_batches(ids uuid[]) returns void
language plpgsql volatile
as $$
begin
    if minutehand.sees_commits() then
        perform from minutehand.batches b where b.id = any (ids) order by b.id for key share;
    else
        perform from minutehand.batches b where b.id = any (ids) order by b.id for share;
    end if;
end
$$;

-- Whether each statement sees what other transactions have committed before it. In repeatable read and serializable, it does not.
create or replace function minutehand.sees_commits() returns boolean
language plpgsql stable
as $$
begin
    return current_setting('transaction_isolation') in ('read committed', 'read uncommitted');
end
$$;

-- Counts the ends of jobs of batches, in the statement that ends them. The one that ends the last open job of a batch ends it.
-- `outcomes` are done, dead, expired, cancelled or deleted. Returns true.
-- If another transaction keeps a lock for a second, or if this one does not see what others commit, the ends are stored as
-- changes, and the next tick counts them and checks the batch.
create or replace function minutehand.count_ends(batches uuid[], jobs uuid[], outcomes text[]) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '1s'
as $$
declare
    changes minutehand.batch_changes[] := array(
        select row(e.batch, minutehand.shard_of(e.job), - count(*), count(*) filter (where e.outcome = 'done'),
                   count(*) filter (where e.outcome = 'dead'), count(*) filter (where e.outcome = 'expired'),
                   count(*) filter (where e.outcome = 'cancelled'), count(*) filter (where e.outcome = 'deleted'))::minutehand.batch_changes
          from unnest(count_ends.batches, jobs, outcomes) e (batch, job, outcome)
         -- A batch that was deleted counts nothing.
         where exists (select from minutehand.batches b where b.id = e.batch)
         group by e.batch, minutehand.shard_of(e.job)
         order by e.batch, minutehand.shard_of(e.job));
begin
    if minutehand.sees_commits() then
        begin
            perform minutehand.count_changes(changes);
            return true;
        exception
            when lock_not_available or deadlock_detected then null;
        end;
    end if;
    insert into minutehand.batch_changes select c.* from unnest(changes) c;
    insert into minutehand.batch_checks (batch, shard) select c.batch, c.shard from unnest(changes) c;
    return true;
end
$$;

-- Adds changes to the counts of their shards, which it locks, and checks the batches of those that have no open job.
create or replace function minutehand.count_changes(changes minutehand.batch_changes[]) returns void
language plpgsql volatile
as $$
declare
    empty_batches uuid[];
    empty_shards  smallint[];
    each_batch    uuid;
begin
    with counted as (
        insert into minutehand.batch_counts as c (batch, shard, open, done, dead, expired, cancelled, deleted)
        select * from unnest(changes)
            on conflict (batch, shard)
            do update set open = c.open + excluded.open, done = c.done + excluded.done, dead = c.dead + excluded.dead,
                          expired = c.expired + excluded.expired, cancelled = c.cancelled + excluded.cancelled,
                          deleted = c.deleted + excluded.deleted
        returning c.batch, c.shard, c.open
    )
    select array_agg(batch), array_agg(shard) into empty_batches, empty_shards from counted where open <= 0;
    if empty_batches is null then
        return;
    end if;
    perform minutehand.move_changes(empty_batches, empty_shards);
    for each_batch in
        select distinct c.batch
          from minutehand.batch_counts c
          join unnest(empty_batches, empty_shards) e (batch, shard) on c.batch = e.batch and c.shard = e.shard
         where c.open <= 0
         order by 1
    loop
        perform minutehand.check_batch(each_batch);
    end loop;
end
$$;

-- Moves the changes of shards into their counts. The caller has locked the shards.
create or replace function minutehand.move_changes(of_batches uuid[], of_shards smallint[]) returns void
language sql volatile
as $$
    with moved as (
        delete from minutehand.batch_changes a using unnest(of_batches, of_shards) e (batch, shard)
         where a.batch = e.batch and a.shard = e.shard
        returning a.*
    ), sums as (
        select batch, shard, sum(open) as open, sum(done) as done, sum(dead) as dead, sum(expired) as expired,
               sum(cancelled) as cancelled, sum(deleted) as deleted
          from moved
         group by batch, shard
    )
    update minutehand.batch_counts c
       set open = c.open + s.open, done = c.done + s.done, dead = c.dead + s.dead, expired = c.expired + s.expired,
           cancelled = c.cancelled + s.cancelled, deleted = c.deleted + s.deleted
      from sums s
     where c.batch = s.batch and c.shard = s.shard
$$;
