-- Tenants: run a transaction as a tenant, and the queues that a tenant sees. current_tenant is in base.sql,
-- the policies are in roles.sql.

-- Makes the rest of the transaction a tenant's; returns the tenant and the role that it had before.
-- Roles that the policies do not restrict (the owner, workers, operators) act as minutehand_tenant until then,
-- or as minutehand_operator, whose plans cannot use the index of tenants. Sessions of the owner or of workers
-- that may become neither are refused.
create or replace function minutehand.as_tenant(tenant text, out was_tenant text, out was_role text)
language plpgsql volatile
as $$
declare
    bound text := minutehand.current_tenant();
    free  boolean := not row_security_active('minutehand.jobs')
                     or coalesce(pg_has_role(to_regrole('minutehand_worker'), 'usage'), false);
    role  name;
begin
    if coalesce(as_tenant.tenant, '') = '' then
        perform minutehand.refuse('tenant_is_a_name', 'tenant must not be empty');
    end if;
    was_tenant := coalesce(current_setting('minutehand.tenant', true), '');
    was_role := current_setting('role');
    perform set_config('minutehand.tenant', as_tenant.tenant::minutehand.tenant, true);
    if minutehand.current_tenant() <> as_tenant.tenant then
        raise exception using errcode = '42501', message = format('role %I is bound to tenant %s', minutehand.session_role(), bound);
    end if;
    if not (free or coalesce(pg_has_role(to_regrole('minutehand_operator'), 'usage'), false)) then
        return;
    end if;
    foreach role in array '{minutehand_tenant,minutehand_operator}'::name[] loop
        if role = current_user then
            return;
        end if;
        begin
            perform set_config('role', role, true);
            return;
        exception
            -- Not a member, or no such role.
            when insufficient_privilege or invalid_parameter_value then null;
        end;
    end loop;
    if free then
        raise exception using errcode = '42501', message =
            
            format('role %I cannot act as a tenant: grant it minutehand_tenant or minutehand_operator', current_user);
    end if;
end
$$;

-- Returns the queues that have jobs or had some in the last week, or for which something is set; for a tenant, those of its
-- unfinished jobs, and of the newest 20,000 that ended in the last week.
-- A tenant's jobs are looked up in each lane: an index finds the first. In plpgsql: for an SQL function the planner would
-- assume the worst and spend seconds compiling it (JIT).
create or replace function minutehand.queues_seen() returns setof text
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    scope text := minutehand.read_scope();
begin
    if scope = '' then
        return query
        select l.queue::text from minutehand.lanes l
         union select c.queue from minutehand.lane_changes c where c.queue is not null
         union select d.queue::text from minutehand.defaults d where d.queue is not null
         union select r.queue from minutehand.retention r where r.queue <> ''
         union select c.queue from minutehand.controls c where c.queue <> '';
    else
        return query
        select l.queue
          from (select queue::text, priority::integer from minutehand.lanes
                 union select c.queue, c.priority from minutehand.lane_changes c where c.queue is not null) l
         where exists (select from minutehand.jobs_live j
                        where j.queue = l.queue and j.priority = l.priority and j.tenant = scope and j.tenant <> '')
         union
        select newest.queue::text
          from (select j.queue
                  from minutehand.jobs j
                 where j.deleted is not null and j.deleted >= date_trunc('day', now() - interval '7 days', 'UTC')
                   and j.tenant = scope and j.tenant <> ''
                 order by j.id desc
                 limit 20000) newest;
    end if;
end
$$;
