-- Days: finished jobs, attempts and events live in one partition per UTC day.

-- Creates the partitions of today and the days ahead; returns how many were new. If a default partition
-- already has rows of a day, that day stays there. Gives up on a lock after two seconds; the next sweep tries
-- again.
create or replace function minutehand.make_days(ahead integer default 7, today date default (now() at time zone 'UTC')::date)
returns integer
language plpgsql security definer set search_path = minutehand, pg_temp set lock_timeout = '2s'
as $$
declare
    home text;
    day  date;
    name text;
    made integer := 0;
begin
    for home, day in
        select h, today + n from unnest('{jobs_done,attempts,events}'::text[]) h, generate_series(0, ahead) n order by n, h desc
    loop
        name := home || '_' || to_char(day, 'YYYYMMDD');
        continue when to_regclass('minutehand.' || name) is not null;
        begin
            execute format('create table minutehand.%I (like minutehand.%I including defaults including constraints including generated)', name, home);
            -- Closed to sessions that name the partition instead of its parent.
            execute format('alter table minutehand.%I enable row level security', name);
            execute format('alter table minutehand.%I attach partition minutehand.%I for values from (%L) to (%L)',
                           home, name, day::text || ' 00:00+00', (day + 1)::text || ' 00:00+00');
            made := made + 1;
        exception
            when lock_not_available then return made;
            -- The last two: another session creates the same day concurrently.
            when check_violation or duplicate_table or unique_violation then null;
        end;
    end loop;
    return made;
end
$$;

-- Calls make_days for workers, which may not choose its arguments.
create or replace function minutehand.make_days_ahead() returns integer
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    select minutehand.make_days()
$$;

-- Returns the days that have a partition, and when each ends.
create or replace function minutehand.days() returns table (home text, name text, day date, ends timestamptz)
language sql stable
as $$
    select p.relname, c.relname, d.day, (d.day + 1)::timestamp at time zone 'UTC'
      from pg_inherits i
      join pg_class c on c.oid = i.inhrelid
      join pg_class p on p.oid = i.inhparent,
           lateral (select to_date(right(c.relname, 8), 'YYYYMMDD') as day) d
     where i.inhparent in ('minutehand.jobs_done'::regclass, 'minutehand.attempts'::regclass, 'minutehand.events'::regclass)
       and c.relname ~ '_[0-9]{8}$'
$$;
