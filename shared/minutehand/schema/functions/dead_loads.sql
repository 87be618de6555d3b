-- Dead loads: runs of a load whose driver was killed, and their tables.

-- Returns the key of the advisory lock that a run's driver holds, from before begin_load until its end.
create or replace function minutehand.load_lock(of_run uuid) returns bigint
language sql immutable
as $$
    select hashtextextended(of_run::text, 0)
$$;

-- Whether a run's driver is alive.
create or replace function minutehand.is_guarded(of_run uuid) returns boolean
language sql stable
as $$
    select exists (select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
                    where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
                      and (l.classid::bigint << 32 | l.objid::bigint) = minutehand.load_lock(of_run))
$$;

-- Returns runs that were killed and have left their tables, oldest first: at once if the driver held a lock, otherwise a day
-- after the run began. A load that was entered keeps its rejected rows for a day too, for a repetition to write them.
create or replace function minutehand.dead_loads() returns table (run uuid, load text, began timestamptz)
language sql stable security definer set search_path = minutehand, pg_temp
as $$
    select r.run, r.load::text, r.began
      from minutehand.load_runs r
     where case when r.guarded and not exists (select from minutehand.loads l where l.run = r.run and l.rejected > 0)
                then not minutehand.is_guarded(r.run)
                else r.began < now() - interval '1 day' and not minutehand.is_guarded(r.run) end
     order by r.began limit 20
$$;

-- Removes the tables of killed runs, and returns the runs. A table in use stays for the next time. A run that loses its table
-- fails as a whole, so no job is entered twice or in part.
create or replace function minutehand.end_dead_loads() returns setof uuid
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '100ms'
as $$
declare
    dead uuid;
begin
    for dead in select d.run from minutehand.dead_loads() d loop
        begin
            perform minutehand.end_load(dead);
            return next dead;
        exception
            -- A session of the run still uses it.
            when lock_not_available then null;
        end;
    end loop;
end
$$;
