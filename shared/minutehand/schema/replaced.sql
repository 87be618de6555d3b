-- Drops the functions of the changed files that no file created in this transaction: the old signature of a function
-- that has a new one, and functions that were removed. Fails if something depends on one, such as a policy.
do $$
declare
    replaced regprocedure;
begin
    for replaced in
        select p.oid
          from pg_proc p
         where p.pronamespace = 'minutehand'::regnamespace
           and p.xmin::text = current_setting('minutehand.functions_before')::json ->> p.oid::text
           and (p.proname = any ({names})
                or p.proname in (select unnest(f.functions) from minutehand.schema_files f
                                  where f.name = any ({changed}) or f.name <> all ({files})))
    loop
        execute format('drop function %s', replaced);
    end loop;
end
$$;
delete from minutehand.schema_files where name <> all ({files});
