-- Ends running jobs whose cancellation was requested, and whose worker died before it checked for it.
with requested as materialized (
    select id
      from minutehand.jobs_live
     where deleted is null and cancelling is not null and visible <= coalesce(%(now)s, now())
     order by visible
     limit %(limit)s
       for update skip locked
), cancelled as (
    update minutehand.jobs
       set deleted = clock_timestamp(), failed = true, cancelled = true,
           error = jsonb_build_object('type', 'Cancelled', 'message', cancelling)
     where deleted is null and id = any (array(select id from requested))
    returning id, queue, kind, key, attempts, max_attempts, tenant, claimed
), history as (
    insert into minutehand.attempts (job, attempt, started, tenant, queue, kind, outcome)
    select id, attempts, claimed, tenant, queue, kind, 'lapsed' from cancelled where claimed is not null
)
select id, queue, kind, key, attempts, max_attempts, tenant from cancelled
