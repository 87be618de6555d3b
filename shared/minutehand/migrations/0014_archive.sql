-- Archive: the ledger of what a lake has, what was erased there, and a day dropped only with every row of it there.
--
--   archive_batches   what was carried to a lake: one batch is rows of one day of one home
--   archived_days     gains `identity`: which rows, and not only how many, the lake has of a day; and `snapshot`: what
--                     was there when that was looked at
--   erased            whose data was erased from the lake, so that no later batch brings it back
--
-- A row's identity is its key and ack, as a number; those of many rows are added up, so that neither their order nor
-- how they were cut into batches matters. minutehand_pipeline computes the same from the lake.

set local lock_timeout = '10s';  -- short of a lock it gives up, rather than have every tick wait behind it

create table minutehand.archive_batches (
    home     text        not null constraint home_is_known check (home in ('jobs_done', 'attempts', 'events')),
    number   bigint      not null,                                    -- the lake's own count; 0 is when it was chosen
    lake     uuid        not null,                                    -- the id of the table there; at -1 what tells this
                                                                      -- queue from others whose lake it might be
    day      date,
    rows     bigint      not null default 0,
    checksum numeric,
    identity numeric,
    archived timestamptz not null default clock_timestamp(),
    primary key (home, number)
);

alter table minutehand.archived_days add column identity numeric, add column snapshot pg_snapshot default pg_current_snapshot();

create table minutehand.erased (
    what  text        not null constraint what_is_known check (what in ('job', 'tenant')),
    value text        not null,                                       -- a job's id, or a tenant's name
    at    timestamptz not null default clock_timestamp(),
    primary key (what, value)
);

-- A text as a number of 60 bits, whose sums are exact.
create function minutehand.as_number(told text) returns bigint
language sql immutable parallel safe strict
as $$
    select ('x' || left(md5(told), 15))::bit(60)::bigint
$$;

-- Microseconds since 1970: the same text of a moment everywhere.
create function minutehand.as_micros(moment timestamptz) returns bigint
language sql immutable parallel safe strict
as $$
    select (extract(epoch from moment) * 1000000)::bigint
$$;

-- How many rows a partition has, all or those of a day, and their identities' sum.
create function minutehand.identities(home text, name text, day date default null, out rows bigint, out identity numeric)
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    dated text := case home when 'jobs_done' then 'deleted' when 'attempts' then 'ended' when 'events' then 'at' end;
    own   text := case home
        when 'jobs_done' then $own$concat_ws(' ', id, as_micros(deleted), coalesce(ack::text, '-'))$own$
        when 'attempts' then $own$concat_ws(' ', job, as_micros(ended), attempt)$own$
        when 'events' then $own$concat_ws(' ', id, as_micros(at))$own$ end;
begin
    execute format('select count(*), coalesce(sum(as_number(%s)), 0) from minutehand.%I
                     where $1 is null or %I >= $1::timestamp at time zone ''UTC''
                                     and %3$I < ($1 + 1)::timestamp at time zone ''UTC''', own, name, dated)
       into rows, identity using day;
end
$$;

-- Whether the lake has just those rows of a day that a partition has. Of a day whose archive said no identity, the
-- count decides.
create function minutehand.in_the_lake(home text, name text, day date) returns boolean
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

-- Drops a day. Under a lock that keeps writers out it is looked at once more, unless everything in it is over whatever
-- it is; `held` is a day with rows that the archive has not. Everyone who finishes a job waits behind whoever waits for
-- the second lock, so that it is not for long, and nothing is read under it.
create or replace function minutehand.drop_day(home text, name text, day date, said text, ends timestamptz, at timestamptz, sure boolean)
returns text
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    execute format('lock table minutehand.%I in share mode', name);
    if not sure and not (minutehand.look_at_day(name, said, ends, at)).whole then
        return 'looked';
    end if;
    if (select keep_until_archived from minutehand.settings) and not minutehand.in_the_lake(home, name, day) then
        return 'held';
    end if;
    execute format('lock table only minutehand.%I in access exclusive mode', home);
    execute format('drop table minutehand.%I', name);
    delete from minutehand.kept_days k where k.home = drop_day.home and k.day = drop_day.day;
    return 'dropped';
exception
    when lock_not_available or deadlock_detected then return 'busy';
end
$$;

-- Whether a row, of which this is the xmin, was there as it is for whoever had that snapshot. An xmin is the lower half
-- of a transaction's number, and no row's is younger than this transaction.
create function minutehand.was_there(born xid, snapshot pg_snapshot) returns boolean
language plpgsql volatile
as $$
declare
    this  bigint := pg_current_xact_id()::text::bigint;
    whole bigint := this / 4294967296 * 4294967296 + born::text::bigint;
begin
    if whole > this then
        whole := whole - 4294967296;
    end if;
    return born::text::bigint < 3 or coalesce(whole > 0 and pg_visible_in_snapshot(whole::text::xid8, snapshot), false);
end
$$;

-- Deletes some of the rows of a partition whose retention is over, the default one's too; says how many. One that
-- somebody brings back at this moment is left to them, and so is one that came after its day was archived.
create or replace function minutehand.delete_over(home text, name text, dated text, said text, at timestamptz, most integer) returns bigint
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
                                  and minutehand.was_there(p.xmin, a.snapshot)))
             limit $2 for update of p skip locked))', name, dated, said)
    using at, most, home;
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- Drops a day that the lake has, row for row: `dropped`, `held` when it has others than the lake, `busy` when others
-- use it, `none` when it has no partition. A day in the default partition is `exchange_default`'s.
create function minutehand.drop_archived(home text, day date) returns text
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
    execute format('lock table only minutehand.%I in access exclusive mode', home);
    execute format('alter table minutehand.%I detach partition minutehand.%I', home, name);
    execute format('drop table minutehand.%I', name);
    delete from minutehand.kept_days k where k.home = drop_archived.home and k.day = drop_archived.day;
    return 'dropped';
exception
    when lock_not_available or deadlock_detected then return 'busy';
end
$$;

-- Puts an empty default partition in the place of the one that is, with what is not in the lake yet; the old one is
-- dropped whole. `held` when a day in it is not as the lake has it, `large` when more than some thousand rows would
-- have to be carried over, `none` when nothing of those days is in it.
create function minutehand.exchange_default(home text, days date[], most integer default 20000) returns text
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '2s'
as $$
declare
    name  text := home || '_default';
    dated text := case home when 'jobs_done' then 'deleted' when 'attempts' then 'ended' when 'events' then 'at' end;
    gone  text := format('(%I at time zone ''UTC'')::date = any ($1)', dated);
    one   date;
    kept  bigint;
    there bigint;
begin
    execute format('lock table minutehand.%I in share mode', name);
    execute format('select count(*) filter (where %s), count(*) filter (where not %1$s) from minutehand.%I', gone, name)
       into there, kept using days;
    if there = 0 or kept > most then
        return case there when 0 then 'none' else 'large' end;
    end if;
    foreach one in array days loop
        if (minutehand.identities(home, name, one)).rows > 0 and not minutehand.in_the_lake(home, name, one) then
            return 'held';
        end if;
    end loop;
    execute format('lock table only minutehand.%I in access exclusive mode', home);
    execute format('alter table minutehand.%I detach partition minutehand.%I', home, name);
    execute format('alter table minutehand.%I rename to %I', name, name || '_old');
    execute format('create table minutehand.%I (like minutehand.%I including defaults including constraints)', name, home);
    execute format('insert into minutehand.%I select * from minutehand.%I where not %s', name, name || '_old', gone) using days;
    execute format('drop table minutehand.%I', name || '_old');
    execute format('alter table minutehand.%I attach partition minutehand.%I default', home, name);
    execute format('alter table minutehand.%I enable row level security', name);
    perform minutehand.make_policies(r)
       from unnest('{minutehand_worker,minutehand_operator,minutehand_tenant}'::text[]) r where to_regrole(r) is not null;
    perform minutehand.grant_archiver() where to_regrole('minutehand_operator') is not null;
    return 'dropped';
exception
    when lock_not_available or deadlock_detected then return 'busy';
end
$$;

-- What those need who look after it all, and so who carry it to a lake.
create function minutehand.grant_archiver() returns void
language plpgsql volatile
as $$
begin
    grant select on minutehand.jobs_done_default, minutehand.attempts_default, minutehand.events_default to minutehand_operator;
    grant select, insert, delete on minutehand.archive_batches to minutehand_operator;
    grant select, insert, update on minutehand.erased to minutehand_operator;
    grant execute on function minutehand.as_number, minutehand.as_micros, minutehand.identities, minutehand.in_the_lake,
                              minutehand.drop_archived, minutehand.exchange_default to minutehand_operator;
end
$$;

revoke execute on function minutehand.as_number(text), minutehand.as_micros(timestamptz),
                           minutehand.identities(text, text, date), minutehand.in_the_lake(text, text, date),
                           minutehand.was_there(xid, pg_snapshot), minutehand.grant_archiver(), minutehand.drop_archived(text, date), minutehand.exchange_default(text, date[], integer) from public;
select minutehand.grant_archiver() where to_regrole('minutehand_operator') is not null;
