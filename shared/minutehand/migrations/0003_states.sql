-- States, derived from the facts in this one place. No column says them, so none can contradict them.
--
--   scheduled   waits for its moment
--   due         its moment has come (also: an offer or a lease ran out)
--   offered     a worker was invited and has not claimed it yet
--   running     claimed, within its lease
--   retrying    failed, and waits for its next attempt
--   done        finished well
--   dead        finished badly: out of attempts, or beyond help
--   cancelled   finished because somebody said so
create function minutehand.state(job minutehand.jobs, at timestamptz default now()) returns text
language sql stable parallel safe
as $$
    select case
        when job.deleted is not null and not job.failed then 'done'
        when job.deleted is not null and job.cancelled then 'cancelled'
        when job.deleted is not null then 'dead'
        when job.visible <= at then 'due'
        when job.ack is null and job.attempts = 0 then 'scheduled'
        when job.ack is null then 'retrying'
        when job.claimed is null or job.offered > job.claimed then 'offered'
        else 'running' end
$$;
