-- Predecessors: let jobs wait for others, and release them exactly when the last one has ended.
--
-- The transaction that ends a predecessor locks each successor, removes its wait, and releases it if that was the last one. Of
-- two predecessors that end at the same time, the second one locks the successor after the first one's commit, and sees it.
--
-- A predecessor that ends while a successor is being added does not see it. Therefore:
--
--   * A transaction that adds a successor stores a check, which commits with it, and locks nothing.
--   * The check marks a job that has not ended as awaited. Its end waits for the check, or was not started before it, and sees
--     the mark in the row that it ends. While another transaction has locked the job, the check is repeated.
--   * If the job has ended, the check releases the successor.
--
-- Ticks make the checks. An end that sees a wait in its own snapshot marks the job itself, and needs no check.

-- Returns the time at which waiting jobs are visible.
create or replace function minutehand.while_waiting() returns timestamptz
language sql immutable parallel safe
as $$
    select timestamptz '9999-12-30 00:00+00'
$$;

-- Whether a job has successors that wait for it, as far as this statement sees.
create or replace function minutehand.is_awaited(job uuid) returns boolean
language sql stable
as $$
    select exists (select from minutehand.waits w where w.predecessor = job)
$$;

-- Returns why a job is cancelled whose predecessor has failed; null if none has.
create or replace function minutehand.reason_of_failure(predecessor uuid) returns text
language sql immutable parallel safe
as $$
    select 'job ' || predecessor || ', which it runs after, did not succeed'
$$;

-- Lets new jobs wait for their predecessors, in the statement that enqueues them. Refuses a predecessor that does not exist, that
-- is another tenant's, or that this statement enqueues too: so there are no cycles. Jobs whose predecessors have ended do not
-- wait.
create or replace function minutehand.await_predecessors(successors uuid[], session_tenant text) returns boolean
language plpgsql volatile
as $$
declare
    absent text;
begin
    with added as (
        insert into minutehand.waits (predecessor, successor)
        select distinct p.id, s.id
          from minutehand.jobs_live s
         cross join unnest(s.after) p (id)
          join minutehand.jobs j on j.id = p.id
         where s.id = any (successors) and (j.deleted is null or j.failed and s.after_failure = 'wait')
           and (session_tenant = '' or j.tenant = s.tenant)
        returning predecessor
    )
    insert into minutehand.predecessor_checks (job) select distinct predecessor from added;
    -- After the insert: a job that was deleted before it is refused, and the check finds one that is deleted after it.
    select coalesce(p.id::text, 'null') into absent
      from minutehand.jobs_live s, unnest(s.after) p (id)
     where s.id = any (successors)
       and (p.id = any (successors)
            -- The id of a job that was deleted.
            or exists (select from minutehand.waits w where w.predecessor = s.id)
            or not exists (select from minutehand.jobs j where j.id = p.id and (session_tenant = '' or j.tenant = s.tenant))
               and not exists (select from minutehand.waits w where w.predecessor = p.id and w.successor = s.id))
     limit 1;
    if found then
        perform minutehand.refuse('after_exists', format('job %s does not exist; enqueue a job before those that run after it', absent));
    end if;
    update minutehand.jobs_live s
       set visible = case when given.failed is null then minutehand.while_waiting() else clock_timestamp() end,
           cancelling = minutehand.reason_of_failure(given.failed),
           -- An update of run_at records the lane, too.
           run_at = s.run_at
      from (select n.id, (select j.id from minutehand.jobs j
                           where n.after_failure = 'cancel' and j.id = any (n.after) and j.deleted is not null and j.failed limit 1) as failed
              from minutehand.jobs_live n where n.id = any (successors)) given
     where s.id = given.id and s.id = any (successors)
       and (given.failed is not null or exists (select from minutehand.waits w where w.successor = s.id));
    return true;
end
$$;

-- Releases those of the waiting jobs that wait for no predecessor any more. After a failure, it cancels those whose
-- after_failure is not `run`.
create or replace function minutehand.release(successors uuid[], has_failed uuid) returns void
language plpgsql volatile
as $$
begin
    update minutehand.jobs_live s
       set visible = case when given.cancels then clock_timestamp() else greatest(s.run_at, clock_timestamp()) end,
           -- An update of run_at records the lane, too.
           run_at = case when given.cancels then s.run_at else greatest(s.run_at, clock_timestamp()) end,
           -- The next tick ends it.
           cancelling = case when given.cancels then minutehand.reason_of_failure(has_failed) end
      from (select j.id, has_failed is not null and j.after_failure <> 'run' as cancels
              from minutehand.jobs_live j where j.id = any (release.successors)) given
     where s.id = given.id and s.id = any (release.successors) and s.visible = minutehand.while_waiting()
       and (given.cancels or not exists (select from minutehand.waits w where w.successor = s.id));
end
$$;

-- Releases up to `max_jobs` successors of a job that has ended, waiting for their locks. After a failure that can be retried,
-- those with after_failure `wait` stay. Returns whether there may be others.
create or replace function minutehand.release_after(predecessor uuid, failed boolean, retryable boolean, max_jobs integer) returns boolean
language plpgsql volatile
as $$
declare
    stay       boolean := failed and retryable;
    successors uuid[] := array(
        select s.id
          from minutehand.jobs_live s
         where s.id in (select w.successor from minutehand.waits w where w.predecessor = release_after.predecessor)
           and s.visible = minutehand.while_waiting() and not (stay and s.after_failure = 'wait')
         order by s.id
         limit max_jobs
           for no key update);
begin
    delete from minutehand.waits w where w.predecessor = release_after.predecessor and w.successor = any (successors);
    perform minutehand.release(successors, case when release_after.failed then release_after.predecessor end);
    if cardinality(successors) = max_jobs then
        return true;
    end if;
    -- Those of jobs that wait no longer, because they were promoted or have ended.
    delete from minutehand.waits w
     where w.predecessor = release_after.predecessor
       and not exists (select from minutehand.jobs_live s where s.id = w.successor and s.visible = minutehand.while_waiting());
    return false;
end
$$;

-- Stores checks of the jobs of a partition that is then dropped, which fires no trigger; see release_deleted.
create or replace function minutehand.release_dropped(home text, name text) returns void
language plpgsql volatile
as $$
begin
    if home = 'jobs_done' then
        execute format('insert into minutehand.predecessor_checks (job)
                        select distinct w.predecessor from minutehand.waits w join minutehand.%I d on d.id = w.predecessor where d.failed', name);
    end if;
end
$$;

-- Stores checks of jobs that are deleted, for the next tick. Their successors cannot wait for a retry.
create or replace function minutehand.release_deleted(jobs uuid[]) returns boolean
language sql volatile
as $$
    insert into minutehand.predecessor_checks (job) select id from unnest(jobs) d (id);
    select true
$$;

-- Makes up to `max_checks` of the stored checks, the oldest first, for about a second. Returns their number, or `max_checks` if a job
-- has more successors to release. A check that would have to wait is stored again, after the others.
create or replace function minutehand.check_predecessors(max_checks integer) returns bigint
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '100ms'
as $$
declare
    ids      bigint[];
    to_check uuid;
    made     text;
    checked  uuid[] := '{}';
    has_more boolean := false;
begin
    if not minutehand.sees_commits() then
        raise invalid_transaction_state using message = 'check_predecessors must run in an isolation level of read committed';
    end if;
    ids := array(select c.id from minutehand.predecessor_checks c order by c.id limit max_checks for update skip locked);
    for to_check in select distinct c.job from minutehand.predecessor_checks c where c.id = any (ids) order by 1 loop
        -- The ends of jobs that were marked wait for this transaction.
        exit when clock_timestamp() > statement_timestamp() + interval '1 second';
        made := minutehand.try_to_check_predecessor(to_check);
        if made <> 'made' then
            insert into minutehand.predecessor_checks (job) values (to_check);
        end if;
        checked := checked || to_check;
        has_more := has_more or made = 'more';
    end loop;
    delete from minutehand.predecessor_checks c where c.id = any (ids) and c.job = any (checked);
    return case when has_more then max_checks else cardinality(ids) end;
end
$$;

-- Marks a job as awaited, or releases its successors if it has ended, and returns `made`; `later` if another transaction has a lock or
-- changes the job; `more` if more successors are left.
create or replace function minutehand.try_to_check_predecessor(of_job uuid) returns text
language plpgsql volatile
as $$
declare
    ended record;
begin
    perform from minutehand.jobs_live j where j.id = of_job for no key update skip locked;
    if found then
        update minutehand.jobs_live j set awaited = true where j.id = of_job and not j.awaited and minutehand.is_awaited(of_job);
        return 'made';
    end if;
    -- One query, so that a job which moves between the partitions is found in one of them. A job that was deleted has failed.
    select j.deleted is null as is_live, coalesce(j.failed, true) as failed, j.id is not null as retryable into ended
      from (select) one left join minutehand.jobs j on j.id = of_job;
    if ended.retryable and ended.is_live then
        return 'later';
    elsif minutehand.release_after(of_job, ended.failed, ended.retryable, 1000) then
        return 'more';
    end if;
    -- A successor waits for a retry.
    update minutehand.jobs j set awaited = true
     where j.id = of_job and j.deleted is not null and not j.awaited and minutehand.is_awaited(of_job);
    return 'made';
exception
    -- serialization_failure: the job or a successor has moved to another partition.
    when lock_not_available or deadlock_detected or serialization_failure then return 'later';
end
$$;

-- Returns the predecessors that a job waits for, with their states; null for one that no longer exists.
create or replace function minutehand.awaited_by(job uuid) returns table (id uuid, state text)
language sql stable security definer set search_path = minutehand, pg_temp
as $$
    select w.predecessor, minutehand.state(p)
      from minutehand.waits w
      join minutehand.jobs_live s on s.id = w.successor and (select minutehand.read_scope()) in ('', s.tenant)
      left join minutehand.jobs p on p.id = w.predecessor
     where w.successor = awaited_by.job
     order by 1
$$;
