-- Counts the jobs that died in a period, up to a number of the latest ones, and the jobs that wait for another attempt, among a
-- number of the latest unfinished ones, by queue and kind.
select d.queue, d.kind, 'dead' as state, count(*) as jobs, min(d.deleted) as since
  from (select j.queue, j.kind, j.deleted
          from minutehand.jobs j
         where j.deleted is not null and j.deleted >= %(since)s
           and j.failed and not j.cancelled and (j.attempts > 0 or j.expires is null)
         order by j.deleted desc
         limit %(dead)s) d
 group by 1, 2
 union all
select r.queue, r.kind, 'retrying', count(*), min(r.claimed)
  from (select j.queue, j.kind, j.claimed, j.error, j.attempts, j.ack, j.visible
          from minutehand.jobs j
         where j.deleted is null
         order by j.id desc
         limit %(unfinished)s) r
 where r.error is not null and r.attempts > 0 and r.ack is null and r.visible > now()
 group by 1, 2
 order by 3, 4 desc
 limit 50
