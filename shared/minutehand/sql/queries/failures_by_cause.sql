-- Groups the jobs that died in a window, of the latest 5,000, and the unfinished jobs with a failed attempt, of the latest 10,000, by
-- cause. `steps` is the place of each failure in 24 parts of the window.
with dead as materialized (
    select j.id, j.queue, j.kind, j.error, j.deleted as at
      from minutehand.jobs j
     where j.deleted is not null and j.deleted >= %(since)s and j.deleted < %(until)s
       and j.failed and not j.cancelled and (j.attempts > 0 or j.expires is null)
       and (%(queue)s::text is null or j.queue = %(queue)s)
       and (%(kind)s::text is null or j.kind = %(kind)s)
     order by j.deleted desc
     limit 5000
), live as materialized (
    select j.id, j.queue, j.kind, case when j.attempts > 0 then j.error end as error, coalesce(j.claimed, j.enqueued) as at
      from minutehand.jobs j
     where j.deleted is null
     order by j.id desc
     limit 10000
), failed as materialized (
    select d.id, d.queue, d.kind, d.error, d.at, true as dead from dead d
     union all
    select l.id, l.queue, l.kind, l.error, l.at, false
      from live l
     where l.error is not null and l.at >= %(since)s and l.at < %(until)s
       and (%(queue)s::text is null or l.queue = %(queue)s)
       and (%(kind)s::text is null or l.kind = %(kind)s)
), causes as materialized (
    select minutehand.cause(f.error) as cause, f.* from failed f
)
select c.cause, c.queue, c.kind, coalesce(max(c.error ->> 'type'), 'Error') as type, left(max(c.error ->> 'message'), 1000) as message,
       count(*) as jobs, count(*) filter (where c.dead) as dead, min(c.at) as first, max(c.at) as last,
       array_agg(width_bucket(extract(epoch from c.at), extract(epoch from %(since)s::timestamptz), extract(epoch from %(until)s::timestamptz), 24)) as steps,
       (array_agg(c.id order by c.at desc))[1:3] as sample,
       (select count(*) from dead) + (select count(*) from live) as read,
       (select count(*) from dead) < 5000 and (select count(*) from live) < 10000 as complete
  from causes c
 group by c.cause, c.queue, c.kind
 order by jobs desc, last desc
 limit 200
