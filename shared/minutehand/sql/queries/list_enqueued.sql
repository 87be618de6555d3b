-- Lists the jobs that were enqueued after another one.
select j.id, j.queue, j.kind, j.key,
       case when isfinite(j.enqueued) then extract(epoch from j.run_at - j.enqueued)::float8 else 0 end as delay
  from minutehand.jobs j
 where j.id > %(after)s
 order by j.id
 limit %(limit)s
