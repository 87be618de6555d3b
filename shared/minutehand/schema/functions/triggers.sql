-- Trigger functions. Applied before the migrations, which create the triggers.

-- Records the lanes of a statement's new jobs, unless every scan finds them anyway; see lane_covers.
create or replace function minutehand.record_lanes() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    insert into minutehand.lane_changes (queue, priority, visible, shared, grouped, mixed)
    select c.queue, c.priority, c.visible, c.shared, c.grouped, c.mixed
      from (select queue, priority, bool_or(tenant <> '') as shared, bool_or("group" is not null) as grouped, bool_or(tenant = '') as mixed,
                   -- An offered or claimed job may be released at any time.
                   min(case when coalesce(offered, claimed) is null then visible else least(visible, clock_timestamp()) end) as visible
              from new_rows
             where deleted is null
             group by queue, priority) c
     where not minutehand.lane_covers(c.queue, c.priority, c.visible, c.shared, c.grouped, c.mixed);
    return null;
end
$$;

-- Records the lane of one job that was moved, or that returned to it.
create or replace function minutehand.record_lane() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
declare
    visible timestamptz := case when coalesce(new.offered, new.claimed) is null then new.visible
                                else least(new.visible, clock_timestamp()) end;
begin
    if not minutehand.lane_covers(new.queue, new.priority, visible, new.tenant <> '', new."group" is not null, new.tenant = '') then
        insert into minutehand.lane_changes
        values (new.queue, new.priority, visible, new.tenant <> '', new."group" is not null, new.tenant = '');
    end if;
    return null;
end
$$;

-- Requests a sweep at the next tick, because a statement on `minutehand.jobs` may have moved any job.
create or replace function minutehand.request_sweep() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    insert into minutehand.lane_changes (visible) values ('infinity');
    return null;
end
$$;

-- Whether every later scan finds a job that this transaction has just written, even though ticks change lanes at the same
-- time. No lock is needed, for two reasons:
--
--   * A floor in the past stays below `settled` (see advance_settled.sql) by 6 seconds. If a tick did not see this job when it
--     raised the floor, then this transaction began to write after `settled`. A job with a time at most 3 seconds ago is
--     above that floor.
--   * Before a lane gets a floor in the future, a tick marks it as idle. It then waits until all transactions that began
--     to write before the mark was visible have ended; see raise_floor.sql. This transaction has written the job already,
--     so the tick waits for it, unless the query below sees the mark.
--
-- The query below needs a new snapshot, which repeatable read does not take. A recorded change is as good as a lane: it is
-- moved to the lane and deleted here in one statement.
create or replace function minutehand.lane_covers(
    in_queue text, with_priority integer, visible timestamptz, shared boolean, grouped boolean, mixed boolean
)
returns boolean
language plpgsql volatile
as $$
begin
    return current_setting('transaction_isolation') = 'read committed'
       and visible >= clock_timestamp() - interval '3 seconds'
       and (exists (select from minutehand.lanes l
                     where l.queue = in_queue and l.priority = with_priority and l.floor <= lane_covers.visible
                       and l.idle is null and (l.shared or not lane_covers.shared) and (l.grouped or not lane_covers.grouped)
                       and (l.mixed or not lane_covers.mixed))
            or exists (select from minutehand.lane_changes c
                        where c.queue = in_queue and c.priority = with_priority and c.visible <= lane_covers.visible
                          and (c.shared or not lane_covers.shared) and (c.grouped or not lane_covers.grouped)
                          and (c.mixed or not lane_covers.mixed)));
end
$$;

-- Clears the payload, headers and on_dead of a personal job when it is finished, whichever statement finishes it.
create or replace function minutehand.clear_personal() returns trigger
language plpgsql
as $$
begin
    new.payload := 'null';
    new.headers := null;
    new.on_dead := null;
    return new;
end
$$;

-- Forgets which days need no work, because retention changed.
create or replace function minutehand.forget_kept_days() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    delete from minutehand.kept_days;
    return null;
end
$$;

-- Blocks the group of a dead job, if its limit declares that. It is called for each job that failed, was cancelled or expired.
create or replace function minutehand.block_group() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    if new."group" is not null and not new.cancelled and (new.attempts > 0 or new.expires is null)
       and minutehand.order_of(new.queue, new.tenant, new."group") = 'block' then
        insert into minutehand.blocked_groups (queue, tenant, "group", job, at)
        values (new.queue, new.tenant, new."group", new.id, new.deleted)
            on conflict do nothing;
    end if;
    return null;
end
$$;

-- Unblocks the group of a dead job that is retried: it is the first of its group again. It is called for each retried job.
create or replace function minutehand.unblock_group() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    if new."group" is not null then
        delete from minutehand.blocked_groups where job = new.id;
    end if;
    return null;
end
$$;

-- Gives a limit whose rate is replaced a new id, so that the rate starts again. Nothing is deleted, because ticks would wait for
-- that; prune_rates.sql deletes the times of the former rate.
create or replace function minutehand.renew_rate() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    new.id := nextval(pg_get_serial_sequence('minutehand.controls', 'id'));
    return new;
end
$$;

-- Releases the successors of a job in the transaction that ends it. The next tick releases those behind the first thousand,
-- and all of them if another transaction keeps a lock for a second, or if this one does not see what others commit. A transaction
-- that ends several jobs waits only once.
create or replace function minutehand.release_successors() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp set lock_timeout = '1s'
as $$
begin
    if minutehand.sees_commits() and coalesce(current_setting('minutehand.has_waited', true), '') = '' then
        begin
            if not minutehand.release_after(new.id, new.failed, true, 1000) then
                return null;
            end if;
        exception
            -- serialization_failure: a successor has moved to another partition.
            when lock_not_available or deadlock_detected or serialization_failure then
                perform set_config('minutehand.has_waited', 'yes', true);
        end;
    end if;
    insert into minutehand.predecessor_checks (job) values (new.id);
    return null;
end
$$;

-- Releases the successors of a finished job that is deleted, at the next tick: they cannot wait for a retry any more. A retry deletes
-- the job from its partition, too; the check then finds it in the other one.
create or replace function minutehand.release_successors_of_deleted() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    perform minutehand.release_deleted(array[old.id]);
    return null;
end
$$;

-- Removes the waits of a job that has ended or was deleted, and whose predecessors may never end successfully. Skips those that the
-- end of a predecessor removes at the same time: to wait for it could be a deadlock. It is called for each job that had predecessors.
create or replace function minutehand.end_waits() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    if old.after_failure <> 'wait' then
        return null;
    end if;
    delete from minutehand.waits w
     where w.successor = old.id
       and w.predecessor = any (array(select l.predecessor from minutehand.waits l where l.successor = old.id for update skip locked));
    return null;
end
$$;
