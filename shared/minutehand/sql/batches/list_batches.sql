-- Lists a page of batches, or of those in a parent, the latest first, with the counts of their jobs. Two queries, of which one runs:
-- a stored plan for both would read all batches to find those of a parent.
select b.id, b.parent, (select count(*) from (select from minutehand.batches n where n.parent = b.id limit 100) n) as nested,
       b.tenant, b.name, b.created, b.closed, b.ended, b.on_complete ->> 'kind' as on_complete, b.on_failure ->> 'kind' as on_failure,
       b.complete_job, b.failure_job, b.error, p.total, p.open, p.done, p.dead, p.expired, p.cancelled
  from (select *
          from (select *
                  from minutehand.batches
                 where %(parent)s::uuid is null and id < coalesce(%(before)s::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                 order by id desc
                 limit %(limit)s) every
         union all
        select *
          from (select *
                  from minutehand.batches
                 where parent = %(parent)s::uuid and id < coalesce(%(before)s::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                 order by id desc
                 limit %(limit)s) nested) b
 cross join lateral minutehand.batch_progress(array[b.id]) p
 order by b.id desc
