-- The jobs that were born after another, for a live view.
select j.id, j.queue, j.kind, j.key, extract(epoch from j.run_at - j.enqueued)::float8 as delay
  from minutehand.jobs j
 where j.id > %(after)s
 order by j.id
 limit %(most)s
