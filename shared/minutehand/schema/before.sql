-- Remembers, until the end of the transaction, which functions exist and their row versions; see replaced.sql.
do $$
begin
    perform set_config('minutehand.functions_before', coalesce(json_object_agg(oid::text, xmin::text), '{}')::text, true)
       from pg_proc where pronamespace = 'minutehand'::regnamespace;
end
$$;
