-- Adds the clock to functions that have their own search_path.
do $$
declare
    found regprocedure;
begin
    for found in
        select p.oid
          from pg_catalog.pg_proc p
         where p.pronamespace = 'minutehand'::regnamespace
           and exists (select from unnest(p.proconfig) setting where setting like 'search_path=%')
    loop
        execute format('alter function %s set search_path = minutehand, minutehand_testing, pg_catalog, pg_temp', found);
    end loop;
end
$$
