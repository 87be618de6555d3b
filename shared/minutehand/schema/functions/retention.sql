-- Retention: days whose rows have expired are dropped, or their expired rows deleted.
-- A row expires when its retention has passed since the end of its day.

-- Carries out one step of retention, so that each step is a short transaction: drops a day if every row has
-- expired, deletes some rows if a part of the day has, or inspects a day. Returns what it did, or nothing if
-- there is nothing to do or another session is doing it.
create or replace function minutehand.retain(at timestamptz default now(), max_rows integer default 5000)
returns table (home text, day date, outcome text, jobs bigint)
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '2s'
as $$
#variable_conflict use_column
begin
    -- Not an advisory lock: any login could hold that, and so stop retention.
    perform from minutehand.settings for no key update skip locked;
    if not found then
        return;
    end if;
    return query
    select d.home, d.day, s.outcome, s.jobs
      from (select d.home, d.name, d.day, r.dated, r.classifier, d.ends, r.longest
              from minutehand.retained r
              join minutehand.days() d on d.home = r.home and d.ends + r.shortest <= at
              left join minutehand.kept_days k on k.home = d.home and k.day = d.day
             where (k.until is null or k.until <= at)
               and (not (select keep_until_archived from minutehand.settings)
                    -- An archive that has begun has no snapshot yet.
                    or exists (select from minutehand.archived_days a
                                where a.home = d.home and a.day = d.day and a.snapshot is not null))
             order by d.day, d.home
             limit 1) d,
           lateral minutehand.retain_day(d.home, d.name, d.day, d.dated, d.classifier, d.ends, d.longest, at, max_rows) s;
    if found then
        return;
    end if;
    return query
    select r.home, null::date, 'deleted', s.jobs
      from minutehand.retained r,
           lateral minutehand.delete_over(r.home, r.home || '_default', r.dated, r.classifier, at, max_rows) s (jobs)
     where s.jobs > 0;
end
$$;

-- Calls retain for workers, which may not choose its arguments.
create or replace function minutehand.retain_now() returns table (home text, day date, outcome text, jobs bigint)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    select * from minutehand.retain()
$$;

-- Returns how long a queue keeps something; null means forever. A queue's own setting takes precedence over
-- the general one.
create or replace function minutehand.keep(of_queue text, of_what text) returns interval
language sql stable security definer set search_path = minutehand, pg_temp
as $$
    select keep from minutehand.retention where queue in (coalesce(of_queue, ''), '') and what = of_what order by queue desc limit 1
$$;

-- Inspects a day: whether all of it has expired (`whole`), or some of it (`part`), and when the next row will
-- (`next`). If `next` is null, nothing more will expire later.
create or replace function minutehand.inspect_day(name text, classifier text, ends timestamptz, at timestamptz,
                                       out whole boolean, out part boolean, out next timestamptz)
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
begin
    execute format(
        'select coalesce(bool_and(coalesce($1 + keep <= $2, false)), true), coalesce(bool_or($1 + keep <= $2), false),
                min($1 + keep) filter (where $1 + keep > $2)
           from (select minutehand.keep(queue, what) as keep
                   from (select distinct p.queue, %s as what from minutehand.%I p) kinds) kept', classifier, name)
       into whole, part, next using ends, at;
end
$$;

-- Deletes up to `max_rows` expired rows of a day that has expired in part, then records when the day must be
-- inspected again; jobs = max_rows means that there may be more. A row that arrives late is found a day later.
create or replace function minutehand.retain_day(home text, name text, day date, dated text, classifier text, ends timestamptz, longest interval,
                                      at timestamptz, max_rows integer, out outcome text, out jobs bigint)
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
        jobs := minutehand.delete_over(home, name, dated, classifier, at, max_rows);
    end if;
    outcome := case when jobs > 0 then 'deleted' else 'checked' end;
    if not sure and jobs < max_rows then
        seen := minutehand.inspect_day(name, classifier, ends, at);
    else
        select sure as whole, true as part, null::timestamptz as next into seen;
    end if;
    if seen.whole then
        outcome := minutehand.drop_day(home, name, day, classifier, ends, at, sure);
    end if;
    if outcome <> 'dropped' then
        insert into minutehand.kept_days (home, day, until)
        values (home, day, case when outcome in ('held', 'busy') then at + interval '10 minutes'
                                when not seen.part then least(seen.next, at + interval '1 day') end)
            on conflict (home, day) do update set until = excluded.until;
    end if;
end
$$;

-- Drops a day. Takes a lock that excludes writers and inspects the day again, unless everything in it has
-- expired in any case. Returns `held` if the day has rows that the archive lacks.
-- Every finishing job waits behind the second lock, so it is held briefly and nothing is read under it.
create or replace function minutehand.drop_day(home text, name text, day date, classifier text, ends timestamptz, at timestamptz, sure boolean)
returns text
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    execute format('lock table minutehand.%I in share mode', name);
    if not sure and not (minutehand.inspect_day(name, classifier, ends, at)).whole then
        return 'checked';
    end if;
    if (select keep_until_archived from minutehand.settings) and not minutehand.in_the_lake(home, name, day) then
        return 'held';
    end if;
    perform minutehand.release_dropped(home, name);
    execute format('lock table only minutehand.%I in access exclusive mode', home);
    execute format('drop table minutehand.%I', name);
    delete from minutehand.kept_days k where k.home = drop_day.home and k.day = drop_day.day;
    return 'dropped';
exception
    when lock_not_available or deadlock_detected then return 'busy';
end
$$;

-- Deletes up to `max_rows` expired rows of a partition, which may be the default one; returns how many. Skips rows
-- that another session has locked, and rows that were written after their day was archived.
create or replace function minutehand.delete_over(home text, name text, dated text, classifier text, at timestamptz, max_rows integer) returns bigint
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
                                where a.home = $3 and a.day = (p.%2$I at time zone ''UTC'')::date
                                  and minutehand.was_visible(p.xmin, a.snapshot)))
             limit $2 for update of p skip locked))', name, dated, classifier)
    using at, max_rows, home;
    get diagnostics gone = row_count;
    return gone;
end
$$;
