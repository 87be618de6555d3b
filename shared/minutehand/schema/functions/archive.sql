-- Archive: verify that a lake has the rows of a day before they are dropped.
--
-- A row's identity is a number computed from its key and ack. Identities are summed, so that neither the order
-- of the rows nor how they were split into batches matters. minutehand_pipeline computes the same from the
-- lake.

-- Returns a 60-bit number computed from a text. Sums of these numbers are exact.
create or replace function minutehand.as_number(value text) returns bigint
language sql immutable parallel safe strict
as $$
    select ('x' || left(md5(value), 15))::bit(60)::bigint
$$;

-- Returns a time in microseconds since 1970, the same in every session.
create or replace function minutehand.as_micros(moment timestamptz) returns bigint
language sql immutable parallel safe strict
as $$
    select (extract(epoch from moment) * 1000000)::bigint
$$;

-- Returns how many rows a partition has, in total or of one day, and the sum of their identities.
create or replace function minutehand.identities(home text, name text, day date default null, out rows bigint, out identity numeric)
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    dated text := case home when 'jobs_done' then 'deleted' when 'attempts' then 'ended' when 'events' then 'at' end;
    identity_of   text := case home
        when 'jobs_done' then $sql$concat_ws(' ', id, as_micros(deleted), coalesce(ack::text, '-'))$sql$
        when 'attempts' then $sql$concat_ws(' ', job, as_micros(ended), attempt)$sql$
        when 'events' then $sql$concat_ws(' ', id, as_micros(at))$sql$ end;
begin
    execute format('select count(*), coalesce(sum(as_number(%s)), 0) from minutehand.%I
                     where $1 is null or %I >= $1::timestamp at time zone ''UTC''
                                     and %3$I < ($1 + 1)::timestamp at time zone ''UTC''', identity_of, name, dated)
       into rows, identity using day;
end
$$;

-- Whether the lake has exactly those rows of a day that a partition has. Without a recorded identity the row
-- counts are compared.
create or replace function minutehand.in_the_lake(home text, name text, day date) returns boolean
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    seen record := minutehand.identities(home, name, day);
begin
    return exists (select from minutehand.archived_days a
                    where a.home = in_the_lake.home and a.day = in_the_lake.day
                      and case when a.identity is null then coalesce(seen.rows <= a.rows, true)
                               else seen.rows = a.rows and seen.identity = a.identity end);
end
$$;

-- Marks days of which an archive is about to take its snapshot: what a handler returns from now on is not added to their jobs,
-- because the copy would lack it. Waits for results that are being added. The lake has none of the rows yet.
create or replace function minutehand.begin_archive(home text, days date[]) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    lock table minutehand.archived_days in exclusive mode;
    insert into minutehand.archived_days (home, day, rows, identity, snapshot)
    select begin_archive.home, day, 0, 0, null from unnest(days) day
        on conflict do nothing;
end
$$;

-- Whether a result may still be added to a job, or an error to an attempt, that ended on an earlier day: no archive has begun
-- to copy the day. Others wait until this transaction ends before they do.
create or replace function minutehand.may_settle(home text, ended timestamptz) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    lock table minutehand.archived_days in row share mode;
    return not exists (select from minutehand.archived_days a
                        where a.home = may_settle.home and a.day = (ended at time zone 'UTC')::date);
end
$$;

-- Whether a row with this xmin was visible to a snapshot. An xmin is the lower half of a transaction id, and
-- no row is younger than this transaction.
create or replace function minutehand.was_visible(created xid, snapshot pg_snapshot) returns boolean
language plpgsql volatile
as $$
declare
    this  bigint := pg_current_xact_id()::text::bigint;
    whole bigint := this / 4294967296 * 4294967296 + created::text::bigint;
begin
    if whole > this then
        whole := whole - 4294967296;
    end if;
    return created::text::bigint < 3 or coalesce(whole > 0 and pg_visible_in_snapshot(whole::text::xid8, snapshot), false);
end
$$;

-- Drops a day whose rows are all in the lake. Returns `dropped`; `held` if the lake's rows differ; `busy` if
-- the day is locked by others; `none` if it has no partition. For days in the default partition see
-- exchange_default.
create or replace function minutehand.drop_archived(home text, day date) returns text
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '2s'
as $$
declare
    name text := (select d.name from minutehand.days() d where d.home = drop_archived.home and d.day = drop_archived.day
                     and d.ends < clock_timestamp());
begin
    if name is null then
        return 'none';
    end if;
    execute format('lock table minutehand.%I in share mode', name);
    if not exists (select from minutehand.archived_days a
                    where a.home = drop_archived.home and a.day = drop_archived.day and a.identity is not null)
       or not minutehand.in_the_lake(home, name, day) then
        return 'held';
    end if;
    perform minutehand.release_dropped(home, name);
    execute format('lock table only minutehand.%I in access exclusive mode', home);
    execute format('alter table minutehand.%I detach partition minutehand.%I', home, name);
    execute format('drop table minutehand.%I', name);
    delete from minutehand.kept_days k where k.home = drop_archived.home and k.day = drop_archived.day;
    return 'dropped';
exception
    when lock_not_available or deadlock_detected then return 'busy';
end
$$;

-- Replaces the default partition with an empty one plus the rows that are not in the lake yet, and drops the old
-- one. Returns `dropped`; `held` if a day in it differs from the lake; `large` if more than `max_rows` rows would
-- have to be copied; `none` if it has no rows of those days; `busy` if it is locked by others.
create or replace function minutehand.exchange_default(home text, days date[], max_rows integer default 20000) returns text
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '2s'
as $$
declare
    name     text := home || '_default';
    dated    text := case home when 'jobs_done' then 'deleted' when 'attempts' then 'ended' when 'events' then 'at' end;
    archived text := format('(%I at time zone ''UTC'')::date = any ($1)', dated);
    one      date;
    kept     bigint;
    there    bigint;
    columns  text;
    given    record;
begin
    execute format('lock table minutehand.%I in share mode', name);
    execute format('select count(*) filter (where %s), count(*) filter (where not %1$s) from minutehand.%I', archived, name)
       into there, kept using days;
    if there = 0 or kept > max_rows then
        return case there when 0 then 'none' else 'large' end;
    end if;
    foreach one in array days loop
        if (minutehand.identities(home, name, one)).rows > 0 and not minutehand.in_the_lake(home, name, one) then
            return 'held';
        end if;
    end loop;
    perform minutehand.release_dropped(home, name);
    execute format('lock table only minutehand.%I in access exclusive mode', home);
    execute format('alter table minutehand.%I detach partition minutehand.%I', home, name);
    execute format('alter table minutehand.%I rename to %I', name, name || '_old');
    execute format('create table minutehand.%I (like minutehand.%I including defaults including constraints including generated)', name, home);
    select string_agg(quote_ident(attname), ', ') into columns
      from pg_attribute
     where attrelid = format('minutehand.%I', home)::regclass and attnum > 0 and not attisdropped and attgenerated = '';
    execute format('insert into minutehand.%1$I (%2$s) select %2$s from minutehand.%3$I where not %4$s', name, columns, name || '_old', archived)
      using days;
    execute format('drop table minutehand.%I', name || '_old');
    execute format('alter table minutehand.%I attach partition minutehand.%I default', home, name);
    execute format('alter table minutehand.%I enable row level security', name);
    perform minutehand.make_policies(r)
       from unnest('{minutehand_worker,minutehand_operator,minutehand_tenant,minutehand_reader}'::text[]) r where to_regrole(r) is not null;
    for given in select * from minutehand.permissions() p where p.object = name and to_regrole(p.role) is not null loop
        execute format('grant %s on minutehand.%I to %I', given.privilege, name, given.role);
    end loop;
    return 'dropped';
exception
    when lock_not_available or deadlock_detected then return 'busy';
end
$$;
