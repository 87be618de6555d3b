-- List the finished days of a home that may have rows, when each ended, and what the archive has recorded of it. Rows
-- of a day without a partition are in the default partition. A day before the year 1, which Python and Parquet do not
-- have, is null.
with named as (
    select d.day, true as partitioned from minutehand.days() d where d.home = %(home)s
    union
    select day, false
      from (select (deleted at time zone 'UTC')::date from minutehand.jobs_done_default where %(home)s = 'jobs_done'
             union select (ended at time zone 'UTC')::date from minutehand.attempts_default where %(home)s = 'attempts'
             union select (at at time zone 'UTC')::date from minutehand.events_default where %(home)s = 'events') o (day)
)
select d.day, n.partitioned, (d.day + 1)::timestamp at time zone 'UTC' as ends, a.rows, a.identity
  from named n
 cross join lateral (select case when n.day >= '0001-01-01' then n.day end) d (day)
  left join minutehand.archived_days a on a.home = %(home)s and a.day = n.day
 where (%(since)s::date is null or n.day >= %(since)s::date)
   and (%(until)s::date is null or n.day <= %(until)s::date)
   and (n.day + 1)::timestamp at time zone 'UTC' <= clock_timestamp()
 order by n.day
