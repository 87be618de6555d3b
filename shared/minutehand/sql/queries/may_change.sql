-- Returns whether the session's role may change jobs; one that only reads may not. Needs no privilege.
select coalesce(bool_or(has_function_privilege(p.oid, 'execute')), false) as may
  from pg_proc p
 where p.proname = 'cancel_jobs' and p.pronamespace = (select oid from pg_namespace where nspname = 'minutehand')
