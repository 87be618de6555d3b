-- Attempts are kept, what recurs bears its next occurrence, and what is personal is cleared when a job is finished.

-- Keeps the attempt of a claim that nobody settled, since its worker died. Whoever claims or ends the job next finds
-- that out; until then the worker may come back late and be accepted.
create function minutehand.lapse(job minutehand.jobs, attempt integer, started timestamptz) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    insert into minutehand.attempts (job, attempt, started, tenant, queue, kind, outcome)
    select job.id, lapse.attempt, lapse.started, job.tenant, job.queue, job.kind, 'lapsed'
     where lapse.attempt > 0  -- a job that was replaced meanwhile counts anew
       and minutehand.current_tenant() in ('', job.tenant);
    return true;
end
$$;

-- Bears the next occurrence of a job that recurs, with all that was said of it. `job` is the row as it was before it was
-- finished, with its payload. Where the key has an upcoming job, that one stays, and null comes back.
create function minutehand.bear(job minutehand.jobs_live, nominal timestamptz) returns uuid
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    born uuid;
begin
    insert into minutehand.jobs_live
           (queue, kind, key, payload, headers, run_at, visible, priority, max_attempts, retry, timeout,
            tenant, personal, every, zone, nominal, schedule)
    values (job.queue, job.kind, job.key, job.payload, job.headers, bear.nominal, bear.nominal, job.priority,
            job.max_attempts, job.retry, job.timeout, job.tenant, job.personal, job.every, job.zone, bear.nominal,
            job.schedule)
        on conflict (queue, key, tenant) where key is not null and claimed is null do nothing
    returning id into born;
    return born;
end
$$;

-- Clears what is personal, whoever finishes the job and however: a worker, people, or somebody's own SQL.
create function minutehand.clear_personal() returns trigger
language plpgsql
as $$
begin
    new.payload := 'null';
    new.headers := null;
    return new;
end
$$;
create trigger what_is_personal_is_cleared before insert on minutehand.jobs_done
    for each row when (new.personal) execute function minutehand.clear_personal();

revoke execute on function minutehand.lapse(minutehand.jobs, integer, timestamptz),
                           minutehand.bear(minutehand.jobs_live, timestamptz), minutehand.clear_personal() from public;
