-- A checksum of the schema, and the number of pages of its tables.
select md5(string_agg(number::text, ' ' order by name)),
       (select sum(pg_relation_size(oid)) / 8192 from pg_class
         where relnamespace = 'minutehand'::regnamespace and relkind in ('r', 'i'))::int
  from (
    select 'class' as name, sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) as number
      from pg_class where oid >= 16384 and relpersistence <> 't'
    union all select 'proc', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_proc where oid >= 16384
    union all select 'constraint', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_constraint where oid >= 16384
    union all select 'trigger', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_trigger where oid >= 16384
    union all select 'policy', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_policy where oid >= 16384
    union all select 'default', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_attrdef where oid >= 16384
    union all select 'acl', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_default_acl where oid >= 16384
    union all select 'extension', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_extension where oid >= 16384
    union all select 'event trigger', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_event_trigger
    union all select 'column', sum(hashtextextended(attrelid::text || ' ' || attnum || ' ' || a.xmin::text, 0))
                from pg_attribute a join pg_class c on c.oid = attrelid
               where attrelid >= 16384 and c.relpersistence <> 't'
    union all select 'type', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_type
               where oid >= 16384 and typnamespace::regnamespace::text !~ '^pg_temp'
    union all select 'schema', sum(hashtextextended(oid::text || ' ' || xmin::text, 0)) from pg_namespace
               where nspname !~ '^pg_(toast_)?temp'
    union all select 'partition', sum(hashtextextended(inhrelid::text || ' ' || xmin::text, 0)) from pg_inherits where inhrelid >= 16384
    union all select 'statistics', count(*) from pg_statistic where starelid >= 16384
    union all select 'settings', sum(hashtextextended(setrole::text || ' ' || xmin::text, 0)) from pg_db_role_setting
               where setdatabase = (select oid from pg_database where datname = current_database())
    union all select 'database', hashtextextended(xmin::text, 0) from pg_database where datname = current_database()
  ) as parts
