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
    returning id, queue, kind, key, attempts, max_attempts, tenant, claimed, batch
), history as (
    insert into minutehand.attempts (job, attempt, started, tenant, queue, kind, outcome)
    select id, attempts, claimed, tenant, queue, kind, 'lapsed' from cancelled where claimed is not null
), counted as (
    select minutehand.count_ends(array_agg(batch), array_agg(id), array_agg('cancelled'::text)) from cancelled where batch is not null having count(*) > 0
)
select id, queue, kind, key, attempts, max_attempts, tenant, (select count(*) from counted) as counted from cancelled
