-- Drops the tables that were made since: partitions of days, stages of loads, and a test's own.
do $$
declare name text;
begin
    for name in select oid::regclass::text from pg_class
                 where relkind in ('r', 'p') and relnamespace in ('minutehand'::regnamespace, 'public'::regnamespace)
                   and oid not in ({existing})
    loop
        execute format('drop table if exists %s cascade', name);
    end loop;
end $$
