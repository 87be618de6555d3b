-- Reads jobs, the newest first and at most a number of them, and returns the ids of those that match, how many were read, and the
-- last that was.
with read as materialized (
    select j.id, minutehand.matches(j, %(filter)s::jsonb) as hit
      from minutehand.jobs j
     where (%(before)s::uuid is null or j.id < %(before)s)
       and (%(batch)s::uuid is null or j.batch = %(batch)s)
       and (%(finished)s::boolean is null or (j.deleted is not null) = %(finished)s)
       and (%(finished_since)s::timestamptz is null or j.deleted is not null and j.deleted >= %(finished_since)s)
       and (%(finished_until)s::timestamptz is null or j.deleted is not null and j.deleted < %(finished_until)s)
     order by j.id desc
     limit %(most)s
)
select (select count(*) from read) as read, (select id from read order by id limit 1) as last,
       array(select id from read where hit order by id desc limit %(limit)s) as ids
