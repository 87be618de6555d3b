-- Drops the tables created since: partitions of days, staging tables of loads, and tables of a test.
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
