-- The state of the schema, and the number of pages of its tables. A committed change of a row in a catalog changes the
-- number of the catalog's rows or its newest xmin.
select string_agg(name || ' ' || number || ' ' || age('3'::xid) - youngest, ', '),
       (select sum(pg_relation_size(oid)) / 8192 from pg_class
         where relnamespace = 'minutehand'::regnamespace and relkind = 'r')::int
  from (
    select 'class' as name, count(*) as number, min(age(xmin)) as youngest from pg_class where oid >= 16384
    union all select 'proc', count(*), min(age(xmin)) from pg_proc where oid >= 16384
    union all select 'constraint', count(*), min(age(xmin)) from pg_constraint where oid >= 16384
    union all select 'trigger', count(*), min(age(xmin)) from pg_trigger where oid >= 16384
    union all select 'policy', count(*), min(age(xmin)) from pg_policy where oid >= 16384
    union all select 'default', count(*), min(age(xmin)) from pg_attrdef where oid >= 16384
    union all select 'acl', count(*), min(age(xmin)) from pg_default_acl where oid >= 16384
    union all select 'extension', count(*), min(age(xmin)) from pg_extension where oid >= 16384
    union all select 'event trigger', count(*), min(age(xmin)) from pg_event_trigger
    union all select 'column', count(*), min(age(xmin)) from pg_attribute where attrelid >= 16384
    union all select 'type', count(*), min(age(xmin)) from pg_type where oid >= 16384
    union all select 'schema', count(*), min(age(xmin)) from pg_namespace where nspname !~ '^pg_(toast_)?temp'
    union all select 'partition', count(*), min(age(xmin)) from pg_inherits where inhrelid >= 16384
    union all select 'statistics', count(*), age('3'::xid) from pg_statistic where starelid >= 16384
    union all select 'settings', count(*), min(age(xmin)) from pg_db_role_setting
               where setdatabase = (select oid from pg_database where datname = current_database())
    union all select 'database', count(*), min(age(xmin)) from pg_database where datname = current_database()
  ) as catalogs
