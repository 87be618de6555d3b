-- Lists a page of batches, or of those in a parent, the latest first, with the counts of their jobs.
select b.id, b.parent, (select count(*) from (select from minutehand.batches n where n.parent = b.id limit 100) n) as nested,
       b.tenant, b.name, b.created, b.closed, b.ended, b.on_complete ->> 'kind' as on_complete, b.on_failure ->> 'kind' as on_failure,
       b.complete_job, b.failure_job, b.error, p.total, p.open, p.done, p.dead, p.expired, p.cancelled
  from (select *
          from minutehand.batches
         where (%(before)s::uuid is null or id < %(before)s) and (%(parent)s::uuid is null or parent = %(parent)s)
         order by id desc
         limit %(limit)s) b
 cross join lateral minutehand.batch_progress(array[b.id]) p
 order by b.id desc
