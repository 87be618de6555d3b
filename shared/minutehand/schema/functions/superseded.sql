-- Superseded jobs: the key was enqueued while they ran. The last enqueue decides whether and how a key recurs.
--
--   superseded   their ids

-- Marks the jobs that run with the key of a new job as superseded: they are not retried and create no next
-- occurrence. The mark is a row of its own, so that the enqueuer waits for no worker and no worker for it.
-- Call it after the new job was inserted, which keeps others from entering or leaving the key. Volatile on
-- purpose: it must see claims that were committed a moment ago. A transaction with an older snapshot sees such a job as
-- it was before the claim.
create or replace function minutehand.supersede_running(by_job uuid, of_tenant text, in_queue text, with_key text) returns boolean
language plpgsql volatile
as $$
begin
    insert into minutehand.superseded (job)
    select j.id
      from minutehand.jobs_live j
     where j.tenant = of_tenant and j.queue = in_queue and j.key = with_key and j.claimed is not null
     union all
    select j.id
      from minutehand.jobs_live j
     where j.tenant = of_tenant and j.queue = in_queue and j.key = with_key and j.claimed is null and j.id <> by_job
        on conflict do nothing;
    return found;
end
$$;

-- Marks every job that runs while its key has an upcoming job, after a load has written jobs of any number of keys. Reads the
-- running jobs with a key, not the load's. Under read committed, a job that was claimed a moment ago is among them.
-- Otherwise it is as it was before the claim: upcoming, like the one that the load has just written.
create or replace function minutehand.supersede_all_running() returns void
language sql volatile
as $$
    insert into minutehand.superseded (job)
    select r.id
      from minutehand.jobs_live r
      join minutehand.jobs_live u on u.queue = r.queue and u.key = r.key and u.tenant = r.tenant and u.claimed is null
     where r.key is not null and r.claimed is not null
     union all
    select r.id
      from minutehand.jobs_live r
      join minutehand.jobs_live u on u.queue = r.queue and u.key = r.key and u.tenant = r.tenant and u.claimed is null
     where r.key is not null and r.claimed is null and r.enqueued < u.enqueued
       and current_setting('transaction_isolation') <> 'read committed'
        on conflict do nothing
$$;

-- Raises an error if a job that is upcoming again was superseded while it ran. Call it after the job's row was
-- written, so that no other job can take the key in between.
create or replace function minutehand.refuse_superseded(job uuid) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    if exists (select from minutehand.superseded s where s.job = refuse_superseded.job) then
        perform minutehand.refuse('key_is_free', 'a newer job has the key', '23505');
    end if;
    return true;
end
$$;

-- Gives a finished job its key back, for a retry. Raises an error if another job with the key runs, which may
-- recur. Call it after the job's row was written.
create or replace function minutehand.regain_key(of_job uuid, of_tenant text, in_queue text, with_key text) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    if minutehand.current_tenant() not in ('', of_tenant) then
        return false;
    end if;
    if exists (select from minutehand.jobs_live j
                where j.tenant = of_tenant and j.queue = in_queue and j.key = with_key and j.claimed is not null) then
        perform minutehand.refuse('key_is_free', 'another job with the key runs', '23505');
    end if;
    delete from minutehand.superseded s where s.job = of_job;
    return true;
end
$$;
