-- A function that drops the tables created since (partitions of days, staging tables of loads, and tables of a test),
-- restores the rows of all others, and returns the state of the schema. Its session keeps the plans.
create function pg_temp.reset(out catalog text, out pages int) language plpgsql as $$
declare
    extra text;
begin
    for extra in select oid::regclass::text from pg_class
                  where relkind in ('r', 'p') and relnamespace in ('minutehand'::regnamespace, 'public'::regnamespace)
                    and oid not in ({existing})
    loop
        execute format('drop table if exists %s cascade', extra);
    end loop;
    {restore}
    {catalog}
      into catalog, pages;
end $$
