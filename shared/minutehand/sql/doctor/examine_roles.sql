-- The schema's roles, whether each exists, and which privileges it lacks.
with wanted as (
    select p.role, p.privilege || ' on ' || coalesce(f.oid::regprocedure::text, 'minutehand.' || p.object) as what,
           case when p.privilege = 'execute' then coalesce(has_function_privilege(r.oid, f.oid, 'execute'), false)
                when p.columns is null then has_table_privilege(r.oid, 'minutehand.' || p.object, p.privilege)
                else (select bool_and(has_column_privilege(r.oid, 'minutehand.' || p.object, name, p.privilege))
                        from unnest(string_to_array(p.columns, ' ')) name) end as held
      from minutehand.permissions() p
      left join pg_roles r on r.rolname = p.role
      left join pg_proc f on f.pronamespace = 'minutehand'::regnamespace and f.proname = p.object and p.privilege = 'execute'
    union all
    select distinct p.role, 'usage on minutehand', has_schema_privilege(r.oid, 'minutehand', 'usage')
      from minutehand.permissions() p left join pg_roles r on r.rolname = p.role
    union all
    select r.rolname, 'policy on minutehand.' || t.name, exists (
           select from pg_policy p where p.polrelid = ('minutehand.' || t.name)::regclass and r.oid = any (p.polroles))
      from unnest('{jobs,jobs_live,attempts,events,schedules,firings,controls,uniques,audit}'::text[]) t (name)
      join pg_roles r on r.rolname in ('minutehand_worker', 'minutehand_operator', 'minutehand_tenant', 'minutehand_reader')
)
select w.role, to_regrole(w.role) is not null as made,
       coalesce(array_agg(w.what order by w.what) filter (where to_regrole(w.role) is not null and not w.held), '{}') as lacks
  from wanted w
 group by w.role
 order by w.role
