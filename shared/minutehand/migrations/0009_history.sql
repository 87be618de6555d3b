-- History: days for attempts and events as for jobs, how long each is kept, and which of them an archive has.
--
--   retention      how long a queue's finished jobs, attempts and events are kept; what nothing is said of, for ever
--   kept_days      days in which not everything is over: until when there is nothing to do in them
--   archived_days  days that an archive has; settings.keep_until_archived has retention wait for it

set local lock_timeout = '10s';  -- short of a lock it gives up, rather than have every tick wait behind it

-- A key's finished jobs, and the dead: both are few beside all that is done.
create index jobs_done_key on minutehand.jobs_done (queue, key, deleted) where key is not null;
create index jobs_done_dead on minutehand.jobs_done (deleted) where failed and not cancelled;

create table minutehand.retention (
    queue text not null default '' constraint queue_is_a_name check (queue = '' or queue::minutehand.queue is not null),
    what  text not null constraint retention_is_of_what_is_known
          check (what in ('done', 'dead', 'cancelled', 'attempts', 'events')),
    keep  interval constraint keep_is_not_negative check (keep >= interval '0'),  -- null is for ever
    primary key (queue, what)                                                     -- '' is every queue without its own
);

create table minutehand.kept_days (
    home  text not null,
    day   date not null,
    until timestamptz,                                                            -- null: its rows are being deleted
    primary key (home, day)
);

create table minutehand.archived_days (
    home     text        not null constraint home_is_known check (home in ('jobs_done', 'attempts', 'events')),
    day      date        not null,
    archived timestamptz not null default clock_timestamp(),
    rows     bigint,                                                              -- a day with more is not dropped
    primary key (home, day)
);

alter table minutehand.settings add column keep_until_archived boolean not null default false;

create function minutehand.look_anew() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    delete from minutehand.kept_days;
    return null;
end
$$;
create trigger another_retention_looks_at_every_day_anew after insert or update or delete on minutehand.retention
    for each statement execute function minutehand.look_anew();

-- Makes the partitions of today and the days ahead; says how many were new. A day whose rows are already in a
-- default partition stays there. Short of a lock for two seconds it gives up: the next sweep tries again.
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
            execute format('create table minutehand.%I (like minutehand.%I including defaults including constraints)', name, home);
            execute format('alter table minutehand.%I enable row level security', name);  -- closed to who asks it by its name
            execute format('alter table minutehand.%I attach partition minutehand.%I for values from (%L) to (%L)',
                           home, name, day::text || ' 00:00+00', (day + 1)::text || ' 00:00+00');
            made := made + 1;
        exception
            when lock_not_available then return made;
            -- The last two: another session makes the same day at this moment.
            when check_violation or duplicate_table or unique_violation then null;
        end;
    end loop;
    return made;
end
$$;

-- The days that have a partition, and when each is over. A day is one of UTC.
create function minutehand.days() returns table (home text, name text, day date, ends timestamptz)
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

-- What is kept where: the column that dates a row, the expression that says what it is, and between which retentions
-- its day is in part over. Without a longest one, something there may be kept for ever.
create view minutehand.retained as
select h.home, h.dated, h.said, min(r.keep) as shortest,
       case when bool_and(r.keep is not null) and count(*) filter (where r.queue = '') = cardinality(h.whats)
            then max(r.keep) end as longest
  from (values
       ('jobs_done', 'deleted', $$case when not p.failed then 'done' when p.cancelled then 'cancelled' else 'dead' end$$,
        '{done,dead,cancelled}'::text[]),
       ('attempts', 'ended', $$'attempts'$$, '{attempts}'),
       ('events', 'at', $$'events'$$, '{events}')) h (home, dated, said, whats)
  join minutehand.retention r on r.what = any (h.whats)
 group by h.home, h.dated, h.said, h.whats;

-- How long a queue keeps something; null is for ever. Its own word goes before that for every queue.
create function minutehand.keep(of_queue text, of_what text) returns interval
language sql stable security definer set search_path = minutehand, pg_temp
as $$
    select keep from minutehand.retention where queue in (coalesce(of_queue, ''), '') and what = of_what order by queue desc limit 1
$$;

-- When the first thing in a day that is not over will be: null is at once or never, as `whole` says; and whether all
-- of it is over, or a part.
create function minutehand.look_at_day(name text, said text, ends timestamptz, at timestamptz,
                                       out whole boolean, out part boolean, out next timestamptz)
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
begin
    execute format(
        'select coalesce(bool_and(coalesce($1 + keep <= $2, false)), true), coalesce(bool_or($1 + keep <= $2), false),
                min($1 + keep) filter (where $1 + keep > $2)
           from (select minutehand.keep(queue, what) as keep
                   from (select distinct p.queue, %s as what from minutehand.%I p) kinds) kept', said, name)
       into whole, part, next using ends, at;
end
$$;

-- Drops a day. Under its lock it is looked at once more, unless everything in it is over whatever it is; `held` is a
-- day with rows that the archive has not. Everyone who finishes a job waits behind whoever waits here, so that it is
-- not for long.
create function minutehand.drop_day(home text, name text, day date, said text, ends timestamptz, at timestamptz, sure boolean)
returns text
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    counted bigint;
begin
    execute format('lock table only minutehand.%I in access exclusive mode', home);
    if not sure and not (minutehand.look_at_day(name, said, ends, at)).whole then
        return 'looked';
    end if;
    if (select keep_until_archived from minutehand.settings) then
        execute format('select count(*) from minutehand.%I', name) into counted;
        if counted > (select a.rows from minutehand.archived_days a where a.home = drop_day.home and a.day = drop_day.day) then
            return 'held';
        end if;
    end if;
    execute format('drop table minutehand.%I', name);
    delete from minutehand.kept_days k where k.home = drop_day.home and k.day = drop_day.day;
    return 'dropped';
exception
    when lock_not_available or deadlock_detected then return 'busy';
end
$$;

-- Deletes some of the rows of a partition whose retention is over, the default one's too; says how many. One that
-- somebody brings back at this moment is left to them.
create function minutehand.delete_over(home text, name text, dated text, said text, at timestamptz, most integer) returns bigint
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    gone bigint;
begin
    execute format(
        'delete from minutehand.%1$I d where d.ctid = any (array(
            select p.ctid
              from minutehand.%1$I p
              left join minutehand.retention o on o.queue = p.queue and o.what = %3$s
              left join minutehand.retention e on e.queue = '''' and e.what = %3$s
             where date_trunc(''day'', p.%2$I, ''UTC'') + interval ''24 hours''
                   + case when o.queue is null then e.keep else o.keep end <= $1
               and (not (select keep_until_archived from minutehand.settings)
                    or exists (select from minutehand.archived_days a
                                where a.home = $3 and a.day = (p.%2$I at time zone ''UTC'')::date))
             limit $2 for update of p skip locked))', name, dated, said)
    using at, most, home;
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- Of a day in which not everything is over, some rows that are: jobs = most says that there may be more. Then whether
-- the day is to be looked at again, and when; a row that comes late is found a day later.
create function minutehand.retain_day(home text, name text, day date, dated text, said text, ends timestamptz, longest interval,
                                      at timestamptz, most integer, out outcome text, out jobs bigint)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
#variable_conflict use_column
declare
    sure boolean := coalesce(ends + longest <= at, false);
    seen record;
begin
    jobs := 0;
    if not sure and exists (select from minutehand.kept_days k
                             where k.home = retain_day.home and k.day = retain_day.day and k.until is null) then
        jobs := minutehand.delete_over(home, name, dated, said, at, most);
    end if;
    outcome := case when jobs > 0 then 'deleted' else 'looked' end;
    if not sure and jobs < most then
        seen := minutehand.look_at_day(name, said, ends, at);
    else
        select sure as whole, true as part, null::timestamptz as next into seen;
    end if;
    if seen.whole then
        outcome := minutehand.drop_day(home, name, day, said, ends, at, sure);
    end if;
    if outcome <> 'dropped' then
        insert into minutehand.kept_days (home, day, until)
        values (home, day, case when outcome in ('held', 'busy') then at + interval '10 minutes'
                                when not seen.part then least(seen.next, at + interval '1 day') end)
            on conflict (home, day) do update set until = excluded.until;
    end if;
end
$$;

-- Carries out retention, one step a call, so that each is a short transaction: drops a day whose every row is over,
-- or deletes some rows where a day is over in part, or looks at a day. Says what it did; nothing, when there is
-- nothing to do or another session is at it. A row is over when its retention has passed since the end of its day.
create function minutehand.retain(at timestamptz default now(), most integer default 5000)
returns table (home text, day date, outcome text, jobs bigint)
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '2s'
as $$
#variable_conflict use_column
begin
    if not pg_try_advisory_xact_lock(6074190483) then
        return;
    end if;
    return query
    select d.home, d.day, s.outcome, s.jobs
      from (select d.home, d.name, d.day, r.dated, r.said, d.ends, r.longest
              from minutehand.retained r
              join minutehand.days() d on d.home = r.home and d.ends + r.shortest <= at
              left join minutehand.kept_days k on k.home = d.home and k.day = d.day
             where (k.until is null or k.until <= at)
               and (not (select keep_until_archived from minutehand.settings)
                    or exists (select from minutehand.archived_days a where a.home = d.home and a.day = d.day))
             order by d.day, d.home
             limit 1) d,
           lateral minutehand.retain_day(d.home, d.name, d.day, d.dated, d.said, d.ends, d.longest, at, most) s;
    if found then
        return;
    end if;
    return query
    select r.home, null::date, 'deleted', s.jobs
      from minutehand.retained r,
           lateral minutehand.delete_over(r.home, r.home || '_default', r.dated, r.said, at, most) s (jobs)
     where s.jobs > 0;
end
$$;

-- The same for workers, who may not say when it is.
create function minutehand.retain_now() returns table (home text, day date, outcome text, jobs bigint)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    select * from minutehand.retain()
$$;

-- Whether the session's tenant has jobs in a queue, or had some in the last week; who is of no tenant sees every queue.
-- In plpgsql, whose cost nobody estimates: the planner would expect the worst, and compile it for seconds (JIT).
create function minutehand.sees_queue(of_queue text) returns boolean
language plpgsql stable
as $$
begin
    return minutehand.current_tenant() = ''
        or exists (select from minutehand.jobs j
                    where j.deleted is null and j.queue = of_queue and j.tenant = minutehand.current_tenant())
        or exists (select from minutehand.jobs j
                    where j.deleted is not null and j.deleted > now() - interval '7 days'
                      and j.queue = of_queue and j.tenant = minutehand.current_tenant());
end
$$;

revoke execute on function minutehand.look_anew(), minutehand.days(), minutehand.keep(text, text), minutehand.retain_now(),
                           minutehand.sees_queue(text),
                           minutehand.look_at_day(text, text, timestamptz, timestamptz),
                           minutehand.drop_day(text, text, date, text, timestamptz, timestamptz, boolean),
                           minutehand.delete_over(text, text, text, text, timestamptz, integer),
                           minutehand.retain_day(text, text, date, text, text, timestamptz, interval, timestamptz, integer),
                           minutehand.retain(timestamptz, integer) from public;
select minutehand.make_days();
