-- Counts the jobs that match by state, among a number of the newest unfinished, finished and dead ones. `stopped` if there were more
-- to read: each state of them then has a row, also if no job in it was found. The row without a state has it for all of them.
with live as materialized (
    select minutehand.state(j) as state, minutehand.matches(j, %(filter)s::jsonb) as hit
      from minutehand.jobs j
     where j.deleted is null and %(finished)s::boolean is not true
       and (%(batch)s::uuid is null or j.batch = %(batch)s)
     order by j.id desc
     limit %(most)s
), done as materialized (
    select minutehand.state(j) as state, minutehand.matches(j, %(filter)s::jsonb) as hit
      from minutehand.jobs j
     where j.deleted is not null and %(finished)s::boolean is not false and not %(only_dead)s::boolean
       and (%(batch)s::uuid is null or j.batch = %(batch)s)
       and (%(finished_since)s::timestamptz is null or j.deleted >= %(finished_since)s)
       and (%(finished_until)s::timestamptz is null or j.deleted < %(finished_until)s)
     order by j.id desc
     limit %(most)s
), dead as materialized (
    select minutehand.matches(j, %(filter)s::jsonb) as hit
      from minutehand.jobs j
     where j.deleted is not null and %(finished)s::boolean is not false
       and j.failed and not j.cancelled and (j.attempts > 0 or j.expires is null)
       and (%(batch)s::uuid is null or j.batch = %(batch)s)
       and (%(finished_since)s::timestamptz is null or j.deleted >= %(finished_since)s)
       and (%(finished_until)s::timestamptz is null or j.deleted < %(finished_until)s)
     order by j.deleted desc
     limit %(most)s
), stopped as materialized (
    select (select count(*) from live) >= %(most)s as live, (select count(*) from done) >= %(most)s as done,
           (select count(*) from dead) >= %(most)s as dead
)
select state, sum(jobs)::bigint as jobs, bool_or(stopped) as stopped
  from (select state, count(*) as jobs, false as stopped from live where hit group by state
         union all
        select state, count(*), false from done where hit and state <> 'dead' group by state
         union all
        select 'dead', count(*), false from dead where hit having count(*) > 0
         union all
        select unnest(array['scheduled', 'due', 'offered', 'running', 'retrying']), 0, true from stopped where live
         union all
        select unnest(array['done', 'expired', 'cancelled']), 0, true from stopped where done
         union all
        select 'dead', 0, true from stopped where dead
         union all
        select null, 0, live or done or dead from stopped) found
 group by state
 order by state
