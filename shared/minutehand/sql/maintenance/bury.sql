-- Ends as dead what has no attempt left and is due all the same: its last worker never came back. What recurs bears its
-- next occurrence with it, and is passed over until its next moment is said, be it that there is none.
with spent as materialized (
    select id
      from minutehand.jobs_live
     where deleted is null and attempts >= max_attempts and visible <= coalesce(%(now)s, now())
       and (every is null or id = any (%(ids)s::uuid[]))
     order by visible
     limit %(most)s
       for update skip locked
), buried as (
    update minutehand.jobs j
       set deleted = clock_timestamp(), failed = true,
           error = jsonb_build_object('type', 'WorkerDied', 'message', 'the worker of the last attempt never came back')
     where deleted is null and id = any (array(select id from spent))
    returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant, coalesce(j.claimed, j.lapsed) as lapsed
), kept as (
    insert into minutehand.attempts (job, attempt, started, tenant, queue, kind, outcome)
    select id, attempts, lapsed, tenant, queue, kind, 'lapsed' from buried where lapsed is not null
)
select b.id, b.queue, b.kind, b.key, b.attempts, b.max_attempts, b.tenant,
       (select minutehand.bear(j, n.next)  -- of the row as it was, with its payload
          from unnest(%(ids)s::uuid[], %(nexts)s::timestamptz[]) n (id, next)
          join minutehand.jobs_live j on j.id = n.id
         where n.id = b.id and n.next is not null) as next
  from buried b
