-- The tables of the schema that store rows, and their writable columns.
select c.oid::regclass::text as name,
       string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where a.attgenerated = '') as columns
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
 where c.relnamespace = 'minutehand'::regnamespace and c.relkind = 'r'
 group by c.oid
