-- A clock that a test can move. The database's search_path has this schema before pg_catalog, so now(),
-- clock_timestamp() and statement_timestamp() without a schema resolve to these functions, in defaults, functions and
-- statements.
create schema minutehand_testing;
create table minutehand_testing.clock (
    one       boolean  primary key default true check (one),
    travelled interval not null default '0'
);
insert into minutehand_testing.clock default values;

create function minutehand_testing.clock_timestamp() returns timestamptz
language sql volatile parallel safe
as $$ select pg_catalog.clock_timestamp() + (select travelled from minutehand_testing.clock) $$;

create function minutehand_testing.now() returns timestamptz
language sql stable parallel safe
as $$ select pg_catalog.now() + (select travelled from minutehand_testing.clock) $$;

-- Functions that stop after some time compare it with clock_timestamp().
create function minutehand_testing.statement_timestamp() returns timestamptz
language sql stable parallel safe
as $$ select pg_catalog.statement_timestamp() + (select travelled from minutehand_testing.clock) $$;

grant usage on schema minutehand_testing to public;
grant select on minutehand_testing.clock to public;
