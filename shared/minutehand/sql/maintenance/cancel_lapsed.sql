-- Ends as cancelled what was to end at its next check, and whose worker never came to one.
with asked as materialized (
    select id
      from minutehand.jobs_live
     where deleted is null and cancelling is not null and visible <= coalesce(%(now)s, now())
     order by visible
     limit %(most)s
       for update skip locked
), cancelled as (
    update minutehand.jobs
       set deleted = clock_timestamp(), failed = true, cancelled = true,
           error = jsonb_build_object('type', 'Cancelled', 'message', cancelling)
     where deleted is null and id = any (array(select id from asked))
    returning id, queue, kind, key, attempts, max_attempts, tenant, claimed
), kept as (
    insert into minutehand.attempts (job, attempt, started, tenant, queue, kind, outcome)
    select id, attempts, claimed, tenant, queue, kind, 'lapsed' from cancelled where claimed is not null
)
select id, queue, kind, key, attempts, max_attempts, tenant from cancelled
