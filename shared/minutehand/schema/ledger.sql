-- One run at a time, until the end of the transaction; the number is minutehand's own.
select pg_advisory_xact_lock(6074190482);
-- Give up on a lock, rather than have every tick wait behind this transaction.
set local lock_timeout = '10s';
-- The bodies of SQL functions name functions of later files.
set local check_function_bodies = off;
do $$
begin
    if to_regclass('minutehand.migrations') is null then
        if to_regnamespace('minutehand') is null then
            create schema minutehand;
        end if;
        create table minutehand.migrations (
            version  integer     primary key,
            name     text        not null,
            checksum text        not null,
            applied  timestamptz not null default clock_timestamp()
        );
        -- The files of functions and roles.sql, as they were last applied, and the names of the functions in each.
        create table minutehand.schema_files (
            name      text        primary key,
            checksum  text        not null,
            functions text[]      not null,
            applied   timestamptz not null default clock_timestamp()
        );
    end if;
end
$$;
