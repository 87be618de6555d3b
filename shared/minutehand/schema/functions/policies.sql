-- Policies: which rows the roles see. roles.sql creates them, once the roles exist.

-- Returns the tables with a tenant, which row-level security closes. Excludes `new_jobs`: COPY FROM does not
-- support row-level security, and no role reads it. Days have no policy: no statement names them.
create or replace function minutehand.tenants_tables() returns setof regclass
language sql stable
as $$
    select c.oid::regclass
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' and not a.attisdropped
     where c.relnamespace = 'minutehand'::regnamespace and c.relkind in ('r', 'p')
       and c.relname not in ('new_jobs', 'tenant_roles')
$$;

-- Creates a role's policies where they are missing. The subquery makes Postgres call the function once per
-- statement.
create or replace function minutehand.make_policies(role text) returns void
language plpgsql volatile
as $$
declare
    rule text := case role
        when 'minutehand_worker' then 'true'
        when 'minutehand_operator' then $rule$(select minutehand.current_tenant()) in ('', tenant)$rule$
        when 'minutehand_reader' then $rule$(select minutehand.readers_tenant()) in ('', tenant)$rule$
        when 'minutehand_tenant' then $rule$tenant = (select minutehand.current_tenant()) and tenant <> ''$rule$ end;
    -- For a table of no tenant, of which the sessions of a tenant see no row.
    untenanted text := case role
        when 'minutehand_worker' then 'true'
        when 'minutehand_operator' then $rule$(select minutehand.current_tenant()) = ''$rule$
        when 'minutehand_reader' then $rule$(select minutehand.readers_tenant()) = ''$rule$
        when 'minutehand_tenant' then 'false' end;
    closed regclass;
begin
    if untenanted is not null
       and not exists (select from pg_policy p where p.polrelid = 'minutehand.dispatcher_usage'::regclass and p.polname = role) then
        execute format('create policy %I on minutehand.dispatcher_usage to %I using (%s)', role, role, untenanted);
    end if;
    for closed in
        select t from minutehand.tenants_tables() t join pg_class c on c.oid = t
         where rule is not null and c.relname !~ '_[0-9]{8}$'
           and not exists (select from pg_policy p where p.polrelid = t and p.polname = role)
    loop
        execute format('create policy %I on %s to %I using (%s)', role, closed, role, rule);
    end loop;
end
$$;
