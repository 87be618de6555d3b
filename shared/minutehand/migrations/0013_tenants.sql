-- Tenants: row-level security, so that who is confined to a tenant meets no other's rows, and every role's grants.
--
-- Who meets which rows of the tables that have a `tenant`:
--
--   minutehand_worker     all: dispatcher and workers serve everybody, and their plans have no filter
--   minutehand_operator   all, or only one tenant's in a transaction that says as_tenant
--   minutehand_tenant     only the tenant's that the transaction says, or that its role is bound to; without one, none
--   anybody else          none; the owner and superusers, whom no policy holds, all
--
-- A login that is a member of several roles meets what any of them does. Functions that run with their owner's rights
-- pass by the policies, and ask current_tenant() themselves.

set local lock_timeout = '10s';  -- short of a lock it gives up, rather than have every tick wait behind it

-- Roles that are one tenant's, whatever a session says: a database login for each tenant makes a wall of what is
-- otherwise a fence against mistakes.
create table minutehand.tenant_roles (
    role   name              primary key,
    tenant minutehand.tenant not null constraint tenant_is_said check (tenant <> '')
);

-- The role that a session acts as, in a function with its owner's rights too.
create function minutehand.session_role() returns name
language plpgsql stable parallel safe
as $$
begin
    return coalesce(nullif(current_setting('role'), 'none'), session_user);
end
$$;

-- Whose session this is: the tenant that its role is bound to, else the one that the transaction says; '' is nobody's,
-- who meets all. A bound login stays bound when it sets another role. A session that is a tenant's and has not said
-- which has '-', which can be no tenant's name, so that what asks here is closed to it.
create or replace function minutehand.current_tenant() returns text
language plpgsql stable parallel safe security definer set search_path = minutehand, pg_temp
as $$
declare
    acts name := minutehand.session_role();
    own  text := coalesce((select t.tenant from minutehand.tenant_roles t
                            where t.role in (session_user, acts)
                            order by t.role = session_user desc limit 1),
                          current_setting('minutehand.tenant', true), '');
begin
    if own = '' and pg_has_role(acts, to_regrole('minutehand_tenant'), 'usage')  -- null where there is no such role
       and not (coalesce(pg_has_role(acts, to_regrole('minutehand_enqueuer'), 'usage'), false)
                or coalesce(pg_has_role(acts, to_regrole('minutehand_worker'), 'usage'), false)
                or coalesce(pg_has_role(acts, to_regrole('minutehand_operator'), 'usage'), false)) then
        return '-';
    end if;
    return own;
end
$$;

-- Makes the rest of the transaction a tenant's; says whose it was, and as what role. Whom a policy would let see more,
-- the owner, workers and operators, acts as minutehand_tenant until then, or as minutehand_operator, whose plans cannot
-- use the index of tenants. The owner's and the workers' sessions that may become neither are refused.
create function minutehand.as_tenant(tenant text, out was_tenant text, out was_role text)
language plpgsql volatile
as $$
declare
    bound text := minutehand.current_tenant();
    free  boolean := not row_security_active('minutehand.jobs')
                     or coalesce(pg_has_role(to_regrole('minutehand_worker'), 'usage'), false);
    role  name;
begin
    if coalesce(as_tenant.tenant, '') = '' then
        perform minutehand.refuse('tenant_is_a_name', 'a tenant has a name');
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
            when insufficient_privilege or invalid_parameter_value then null;  -- not a member, or no such role
        end;
    end loop;
    if free then
        raise exception using errcode = '42501', message =
            format('no policy confines %I to a tenant, and it may become neither minutehand_tenant nor minutehand_operator', current_user);
    end if;
end
$$;

-- Refuses jobs that a session may not enqueue: for another tenant than its own, or for none as a tenant's role. Says
-- whose session it is. Only enqueue_all calls it, with its own rights.
create function minutehand.check_tenants(items minutehand.new_job[]) returns text
language plpgsql stable
as $$
declare
    own text := minutehand.current_tenant();
begin
    if own = '-' then
        perform minutehand.refuse('tenant_is_said', 'this role enqueues for a tenant: say which one, in minutehand.as_tenant');
    elsif own <> '' and exists (select from unnest(items) i where i.tenant <> own) then
        perform minutehand.refuse('tenant_is_own', 'who is confined to a tenant enqueues for that tenant only');
    end if;
    return own;
end
$$;

-- What people do by hand is their tenant's, where nothing else is said.
alter table minutehand.audit     alter column tenant set default minutehand.current_tenant();
alter table minutehand.schedules alter column tenant set default minutehand.current_tenant();
alter table minutehand.controls  alter column tenant set default minutehand.current_tenant();

-- A tenant's jobs from the last one on, for pages and counts; no entry for a job that is nobody's.
create index jobs_tenant on minutehand.jobs (tenant, id) where tenant <> '';

-- Every table with a tenant is closed to whom no policy admits. Not `incoming`, which COPY fills, and COPY knows no
-- policies; nobody reads it. A day's partition is nobody's to ask by its name, and has no policy.
create function minutehand.tenants_tables() returns setof regclass
language sql stable
as $$
    select c.oid::regclass
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' and not a.attisdropped
     where c.relnamespace = 'minutehand'::regnamespace and c.relkind in ('r', 'p')
       and c.relname not in ('incoming', 'tenant_roles')
$$;
do $$
declare
    closed regclass;
begin
    foreach closed in array (select array_agg(t) from minutehand.tenants_tables() t) loop
        execute format('alter table %s enable row level security', closed);
    end loop;
end
$$;

-- The queues that have or had jobs, or of which something is set; of a tenant, those that have or had jobs of its own.
create function minutehand.queues_seen() returns setof text
language sql stable security definer set search_path = minutehand, pg_temp
as $$
    select q.queue
      from (select queue::text from minutehand.lanes
             union select queue::text from minutehand.defaults where queue is not null
             union select queue from minutehand.retention where queue <> ''
             union select queue from minutehand.controls where queue <> '') q
     where minutehand.sees_queue(q.queue)
$$;

-- Makes a role's policies where they are missing. The function is in a subquery, and so is asked once a statement.
create function minutehand.make_policies(role text) returns void
language plpgsql volatile
as $$
declare
    rule text := case role
        when 'minutehand_worker' then 'true'
        when 'minutehand_operator' then $rule$(select minutehand.current_tenant()) in ('', tenant)$rule$
        when 'minutehand_tenant' then $rule$tenant = (select minutehand.current_tenant()) and tenant <> ''$rule$ end;
    closed regclass;
begin
    for closed in
        select t from minutehand.tenants_tables() t join pg_class c on c.oid = t
         where rule is not null and c.relname !~ '_[0-9]{8}$'
           and not exists (select from pg_policy p where p.polrelid = t and p.polname = role)
    loop
        execute format('create policy %I on %s to %I using (%s)', role, closed, role, rule);
    end loop;
end
$$;

-- Makes the roles where the caller may, and gives those that exist what they need; says which those are. Only the
-- owner of the schema has anything to give. A day needs no grant: nobody asks for it by its name.
create or replace function minutehand.grant_roles() returns setof text
language plpgsql volatile
as $$
declare
    role text;
begin
    foreach role in array
        '{minutehand_enqueuer,minutehand_worker,minutehand_operator,minutehand_tenant,minutehand_migrator}'::text[] loop
        begin
            if to_regrole(role) is null then
                execute format('create role %I nologin', role);
            end if;
        exception
            when duplicate_object or unique_violation then null;  -- another database makes it at this moment
            when insufficient_privilege then
                raise notice 'role % is missing, and % may not make it; once it is there: select minutehand.grant_roles()',
                             role, current_user;
                continue;
        end;
        execute format('grant usage on schema minutehand to %I', role);
        execute format('grant select on minutehand.migrations to %I', role);
        return next role;
        continue when role = 'minutehand_migrator';
        execute format('grant execute on function minutehand.enqueue_all, minutehand.enqueue, minutehand.enqueue_incoming,
                                                  minutehand.keep_events to %I', role);
        execute format('grant insert on minutehand.incoming to %I', role);
        perform minutehand.make_policies(role);
    end loop;
    perform minutehand.grant_worker() where to_regrole('minutehand_worker') is not null;
    -- A tenant's role is an operator's within its tenant, without what all tenants share.
    perform minutehand.grant_desk('minutehand_tenant') where to_regrole('minutehand_tenant') is not null;
    perform minutehand.grant_desk('minutehand_operator'), minutehand.grant_operator()
      where to_regrole('minutehand_operator') is not null;
end
$$;

-- What dispatchers and workers need.
create function minutehand.grant_worker() returns void
language plpgsql volatile
as $$
begin
    grant select on minutehand.jobs, minutehand.jobs_live, minutehand.controls to minutehand_worker;
    grant update (ack, prior, offered, claimed, visible, attempts, error, lapsed, result) on minutehand.jobs_live to minutehand_worker;
    grant update (deleted, failed, cancelled, result, error, version) on minutehand.jobs to minutehand_worker;
    grant insert on minutehand.attempts to minutehand_worker;
    grant select, update (until), delete on minutehand.uniques to minutehand_worker;
    grant select, insert, update, delete on minutehand.schedules to minutehand_worker;
    grant select, delete on minutehand.firings to minutehand_worker;
    grant select, insert, update (floor) on minutehand.lanes to minutehand_worker;
    grant select, update on minutehand.dispatcher to minutehand_worker;
    grant select, insert, update on minutehand.budgets to minutehand_worker;
    grant execute on function minutehand.state, minutehand.make_days_ahead, minutehand.retain_now, minutehand.choose,
                              minutehand.count_unpaused, minutehand.lapse, minutehand.bear, minutehand.fire,
                              minutehand.withdraw_ahead to minutehand_worker;
end
$$;

-- What people need who look at jobs and schedules and change them, all or one tenant's.
create function minutehand.grant_desk(role text) returns void
language plpgsql volatile
as $$
begin
    execute format('grant select, delete,
                          update (ack, prior, offered, claimed, visible, run_at, attempts, deleted, failed, cancelled, error,
                                  payload, headers, priority, max_attempts, retry, timeout, cancelling, lapsed, every)
                       on minutehand.jobs to %I', role);
    execute format('grant select on minutehand.jobs_live, minutehand.attempts, minutehand.events, minutehand.firings,
                                    minutehand.controls, minutehand.uniques to %I', role);
    execute format('grant select, insert on minutehand.audit to %I', role);
    execute format('grant select, insert, update, delete on minutehand.schedules to %I', role);
    execute format('grant execute on function minutehand.state, minutehand.lapse, minutehand.fitting, minutehand.bounds_job,
                                              minutehand.version_numbers, minutehand.fire, minutehand.withdraw_ahead,
                                              minutehand.queues_seen to %I', role);
end
$$;

-- What only those need who look after it all: what has no tenant, and what bounds every one of them.
create function minutehand.grant_operator() returns void
language plpgsql volatile
as $$
begin
    grant select on minutehand.jobs_done_default, minutehand.lanes, minutehand.settings, minutehand.dispatcher,
                    minutehand.budgets to minutehand_operator;
    grant select, insert, update on minutehand.defaults, minutehand.queue_defaults to minutehand_operator;
    grant select, insert, update, delete on minutehand.controls, minutehand.retention, minutehand.archived_days to minutehand_operator;
    grant update (keep_until_archived) on minutehand.settings to minutehand_operator;
    grant execute on function minutehand.days, minutehand.hold_ticks, minutehand.count_unpaused,
                              minutehand.busy to minutehand_operator;
    -- What came later grants its own.
    if to_regprocedure('minutehand.grant_archiver()') is not null then
        perform minutehand.grant_archiver();
    end if;
    if to_regprocedure('minutehand.grant_loader()') is not null then
        perform minutehand.grant_loader();
    end if;
end
$$;

-- Gives the schema and all that is in it to another owner, who applies the later migrations. The caller owns it, and
-- is a superuser or a member of that role. Policies go with their tables.
create or replace function minutehand.hand_over(new_owner name default 'minutehand_migrator') returns void
language plpgsql volatile
as $$
declare
    change text;
begin
    execute format('alter schema minutehand owner to %I', new_owner);
    for change in
        select format('alter table %s owner to %I', oid::regclass, new_owner)
          from pg_class where relnamespace = 'minutehand'::regnamespace and relkind in ('r', 'p', 'v')
        union all
        select format('alter routine %s owner to %I', oid::regprocedure, new_owner)
          from pg_proc where pronamespace = 'minutehand'::regnamespace
        union all
        select format('alter type %s owner to %I', t.oid::regtype, new_owner)
          from pg_type t left join pg_class c on c.oid = t.typrelid
         where t.typnamespace = 'minutehand'::regnamespace and (t.typtype = 'd' or c.relkind = 'c')
    loop
        execute change;
    end loop;
end
$$;

revoke execute on function minutehand.check_tenants(minutehand.new_job[]), minutehand.tenants_tables(),
                           minutehand.make_policies(text), minutehand.queues_seen(), minutehand.grant_worker(), minutehand.grant_desk(text),
                           minutehand.grant_operator() from public;
select minutehand.grant_roles();
