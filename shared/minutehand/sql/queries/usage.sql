-- Sums what Lambda bills for the attempts in a window, by kind and memory. The attempts of one request are one
-- invocation: it lasts from its first start to its last end, and a kind has the share of its attempts. The outcomes of
-- attempts of up to 50 ms are written together, up to 50 ms later, so the first ones began earlier than stored.
with ran as (
    select a.kind, a.request, a.memory_mb, a.started, a.ended, extract(epoch from a.ended - a.started)::float8 * 1000 as ms
      from minutehand.attempts a
     where a.ended >= %(since)s and a.ended < %(until)s and isfinite(a.started) and a.outcome <> 'lapsed'
       and a.request is not null and a.memory_mb is not null
), invocation as (
    select request, count(*) as attempts, sum(ms) as ms, extract(epoch from max(ended) - min(started))::float8 * 1000 as span,
           coalesce(sum(ms) filter (where ms <= 50) - max(ms) filter (where ms <= 50), 0) as earlier
      from ran
     group by request
), billed as (
    select request, attempts, ms, ceil(span + least(earlier, 50) + %(overhead_ms)s::float8) as billed
      from invocation
)
select r.kind, r.memory_mb, count(*) as attempts, coalesce(sum(r.ms), 0)::float8 as ran_ms,
       sum(1.0 / b.attempts)::float8 as invocations,
       sum(b.billed * case when b.ms > 0 then r.ms / b.ms else 1.0 / b.attempts end)::float8 as billed_ms
  from ran r join billed b using (request)
 group by r.kind, r.memory_mb
 order by r.kind, r.memory_mb
