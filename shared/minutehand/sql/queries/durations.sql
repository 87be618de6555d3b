-- Measures how long attempts ran, and how long the jobs waited that finished with their first attempt, in a window.
with spent as (
    select a.queue, a.kind, 'ran' as what, extract(epoch from a.ended - a.started)::float8 as seconds
      from minutehand.attempts a
     where a.ended >= %(since)s and a.ended < %(until)s and isfinite(a.started) and a.outcome <> 'lapsed'
     union all
    select j.queue, j.kind, 'waited', extract(epoch from j.claimed - j.run_at)::float8
      from minutehand.jobs j
     where j.deleted is not null and j.deleted >= %(since)s and j.deleted < %(until)s
       and j.attempts = 1 and isfinite(j.claimed)
)
select queue, case when %(by_kind)s then kind end as kind,
       count(*) filter (where what = 'ran') as ran,
       percentile_cont('{0.5,0.95,0.99,1}'::float8[]) within group (order by greatest(0, seconds)) filter (where what = 'ran') as run,
       count(*) filter (where what = 'waited') as waited,
       percentile_cont('{0.5,0.95,0.99,1}'::float8[]) within group (order by greatest(0, seconds)) filter (where what = 'waited') as wait
  from spent
 where (%(queue)s::text is null or queue = %(queue)s)
   and (%(kind)s::text is null or kind = %(kind)s)
 group by 1, 2
 order by 1, 2
