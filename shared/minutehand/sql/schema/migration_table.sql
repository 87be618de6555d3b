-- Where the applied migrations are noted.
do $$
begin
    if to_regclass('minutehand.migrations') is null then
        create schema if not exists minutehand;
        create table minutehand.migrations (
            version  integer     primary key,
            name     text        not null,
            checksum text        not null,
            applied  timestamptz not null default clock_timestamp()
        );
    end if;
end
$$
