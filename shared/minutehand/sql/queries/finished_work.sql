-- Counts the jobs that a window finished after an attempt: how many 15-minute delays of SQS they would have needed, the
-- minutes in which jobs became due, and those in which jobs did that had been enqueued for later. Also returns the time.
select now() as now, count(*) as jobs,
       coalesce(sum(greatest(1, ceil(extract(epoch from least(j.run_at - j.enqueued, interval '100 years')) / %(longest)s::float8))),
                0)::float8 as hops,
       count(distinct date_trunc('minute', j.run_at)) as minutes,
       count(distinct date_trunc('minute', j.run_at)) filter (where j.run_at > j.enqueued + interval '1 second') as later_minutes
  from minutehand.jobs j
 where j.deleted is not null and j.deleted >= %(since)s and j.deleted < %(until)s and j.attempts > 0
   and isfinite(j.run_at) and isfinite(j.enqueued)
