-- Returns an overview: pending jobs, jobs finished since midnight, the last failure, the next schedule.
with live as (
    select count(*) as jobs, count(*) filter (where minutehand.state(j) in ('offered', 'running')) as running,
           count(*) filter (where j.every is not null) as recurring, min(j.visible) filter (where j.every is not null) as next
      from minutehand.jobs j
     where j.deleted is null
     group by j.queue
), ended as (
    select count(*) filter (where not j.failed) as done, count(*) filter (where minutehand.state(j) = 'dead') as failed
      from minutehand.jobs j
     where j.deleted is not null and j.deleted >= date_trunc('day', now(), %(zone)s)
), planned as (
    select count(*) as schedules, min(next) as next from minutehand.schedules where not paused and next is not null
)
select coalesce(sum(l.jobs - l.running), 0)::bigint as pending, coalesce(sum(l.running), 0)::bigint as running,
       count(l.jobs) as queues, planned.schedules + coalesce(sum(l.recurring), 0)::bigint as schedules,
       ended.done, ended.failed,
       (select max(j.deleted) from minutehand.jobs j
         where j.deleted is not null and j.failed and not j.cancelled
           and (j.attempts > 0 or j.expires is null)) as last_failed,
       least(min(l.next), planned.next) as next_schedule
  from ended cross join planned left join live l on true
 group by ended.done, ended.failed, planned.schedules, planned.next
