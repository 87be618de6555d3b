-- Counts the jobs enqueued and finished in each hour or day of a time zone. The bins are found from times at short steps,
-- so that they are right across changes to and from DST. A job enqueued in the window cannot have finished before it.
with bins as materialized (
    select distinct date_trunc(%(by)s, m.moment, %(zone)s) as start
      from (select generate_series(%(since)s::timestamptz, %(until)s::timestamptz, %(step)s::interval)
             union all
            select greatest(%(since)s::timestamptz, %(until)s::timestamptz - interval '1 microsecond')) m (moment)
     where m.moment < %(until)s or m.moment = %(since)s
), counted as materialized (
    select date_trunc(%(by)s, e.moment, %(zone)s) as start,
           case %(each)s::text when 'queue' then e.queue::text when 'kind' then e.kind::text end as name, e.what, count(*) as jobs
      from (select l.queue, l.kind, l.enqueued as moment, 'enqueued' as what
              from minutehand.jobs l
             where l.deleted is null and l.enqueued >= date_trunc(%(by)s, %(since)s::timestamptz, %(zone)s) and l.enqueued < %(until)s
             union all
            select d.queue, d.kind, d.enqueued, 'enqueued'
              from minutehand.jobs d
             where d.deleted is not null and d.deleted >= date_trunc(%(by)s, %(since)s::timestamptz, %(zone)s)
               and d.enqueued >= date_trunc(%(by)s, %(since)s::timestamptz, %(zone)s) and d.enqueued < %(until)s
             union all
            select d.queue, d.kind, d.deleted, minutehand.state(d)
              from minutehand.jobs d
             where d.deleted is not null and d.deleted >= date_trunc(%(by)s, %(since)s::timestamptz, %(zone)s)
               and d.deleted < %(until)s) e
     where (%(queue)s::text is null or e.queue = %(queue)s)
       and (%(kind)s::text is null or e.kind = %(kind)s)
     group by 1, 2, 3
), names as (
    select distinct name from counted where name is not null
     union all
    select null where %(each)s::text is null
)
select b.start, n.name,
       coalesce(sum(c.jobs) filter (where c.what = 'enqueued'), 0)::bigint as enqueued,
       coalesce(sum(c.jobs) filter (where c.what = 'done'), 0)::bigint as done,
       coalesce(sum(c.jobs) filter (where c.what = 'dead'), 0)::bigint as dead,
       coalesce(sum(c.jobs) filter (where c.what = 'expired'), 0)::bigint as expired,
       coalesce(sum(c.jobs) filter (where c.what = 'cancelled'), 0)::bigint as cancelled
  from bins b cross join names n
  left join counted c on c.start = b.start and coalesce(c.name, '') = coalesce(n.name, '')
 group by b.start, n.name
 order by n.name, b.start
