-- Reads dead jobs, the last to die first and at most a number of them, and returns the ids of those that match, the newest first,
-- how many were read, and the last of those that match.
with read as materialized (
    select j.id, minutehand.matches(j, %(filter)s::jsonb) as hit
      from minutehand.jobs j
     where j.deleted is not null and j.failed and not j.cancelled and (j.attempts > 0 or j.expires is null)
       and (%(batch)s::uuid is null or j.batch = %(batch)s)
       and (%(finished_since)s::timestamptz is null or j.deleted >= %(finished_since)s)
       and (%(finished_until)s::timestamptz is null or j.deleted < %(finished_until)s)
     order by j.deleted desc
     limit %(most)s
)
select (select count(*) from read) as read, (select id from read order by id limit 1) as last,
       array(select id from read where hit and (%(before)s::uuid is null or id < %(before)s) order by id desc limit %(limit)s) as ids
