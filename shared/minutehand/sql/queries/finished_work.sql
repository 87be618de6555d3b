-- Counts the jobs that a window finished after an attempt, and what they need in each mode. Also returns the time.
--
--   hops               delays of SQS, which are at most `longest` seconds long
--   wakeups            minutes in which a tick finds some of them, as in minutehand.waking.wakeups
--   tick_invocations   of workers, if ticks offer the jobs of such a minute together
--   prompt_invocations of workers, if those of a transaction start at its commit, and later ones at their time
--   wait_seconds       how long the dispatcher of the mode `prompt` waits for later ones. It does so from the tick that has them in
--                      its next 75 seconds, or from their enqueue, which then invokes it: `woken`
with job as materialized (
    select j.queue, j.enqueued, j.run_at, j.run_at > j.enqueued + interval '1 second' as later,
           date_trunc('minute', greatest(j.run_at, j.enqueued + interval '5.1 seconds') + interval '59.899999 seconds') as wakeup,
           date_trunc('minute', j.run_at) as minute
      from minutehand.jobs j
     where j.deleted is not null and j.deleted >= %(since)s and j.deleted < %(until)s and j.attempts > 0
       and isfinite(j.run_at) and isfinite(j.enqueued)
), start as (
    select queue, count(*) as jobs
      from job
     group by queue, later, case when later then date_bin('100 milliseconds', run_at, 'epoch') else enqueued end
), tick as (
    select queue, wakeup, count(*) as jobs from job group by queue, wakeup
), wait as (
    select unnest(range_agg(tstzrange(w.since, w.until))) as time
      from (select min(greatest(enqueued, case when is_next and enqueued < minute - interval '1 minute' then minute - interval '1 minute'
                                               else minute end)) as since, max(run_at) as until
              from (select *, run_at <= minute + interval '15 seconds' as is_next from job where later) l
             group by minute, is_next) w
     where w.since < w.until
)
select now() as now, (select count(*) from job) as jobs,
       (select coalesce(sum(greatest(1, ceil(extract(epoch from least(run_at - enqueued, interval '100 years')) / %(longest)s::float8))), 0)
          from job)::float8 as hops,
       (select count(distinct wakeup) from tick) as wakeups,
       (select coalesce(sum(greatest(ceil(least(jobs, %(capacity)s)::float8 / %(chunk)s), ceil(jobs::float8 / %(together)s))), 0)
          from tick)::float8 as tick_invocations,
       (select coalesce(sum(ceil(jobs::float8 / %(chunk)s)), 0) from start)::float8 as prompt_invocations,
       (select coalesce(sum(extract(epoch from upper(time) - lower(time))), 0) from wait)::float8 as wait_seconds,
       (select count(*) from wait where lower(time) <> date_trunc('minute', lower(time))) as woken
