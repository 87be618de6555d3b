-- Returns batches with the counts of their jobs.
select b.id, b.parent, (select count(*) from (select from minutehand.batches n where n.parent = b.id limit 100) n) as nested,
       b.tenant, b.name, b.created, b.closed, b.ended, b.on_complete ->> 'kind' as on_complete, b.on_failure ->> 'kind' as on_failure,
       b.complete_job, b.failure_job, b.error, p.total, p.open, p.done, p.dead, p.expired, p.cancelled
  from minutehand.batches b
  join minutehand.batch_progress(%(ids)s) p on p.id = b.id
 where b.id = any (%(ids)s)
 order by b.id desc
