-- Roles, grants and policies. Applied after the functions, whenever this file or one of them changed.
--
--   minutehand_enqueuer   enqueues; reads no jobs
--   minutehand_worker     dispatcher and workers: offers, claims, finishes, maintains; and enqueues
--   minutehand_operator   API and command line: reads jobs, changes those that are not running, purges; and enqueues
--   minutehand_tenant     as minutehand_operator, within one tenant, without what all tenants share
--   minutehand_migrator   may own the schema; see hand_over
--
-- The roles are groups without a login. They belong to the server, so another database may have created them.
--
-- Row-level security on the tables with a column `tenant`:
--
--   minutehand_worker     all rows: dispatcher and workers serve every tenant, and their plans have no filter
--   minutehand_operator   all rows, or those of one tenant in a transaction that called as_tenant
--   minutehand_tenant     the rows of the tenant that the transaction set or that the role is bound to
--   others                none, except the owner and superusers, whom no policy restricts
--
-- A login that is a member of several roles sees what any of them sees. Security definer functions bypass the
-- policies and check current_tenant() themselves.

-- Creates the roles if the caller may, and grants to those that exist; returns their names. Only the owner of
-- the schema can grant. A day's partition needs no grant: no statement names it.
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
            -- Another database creates it concurrently.
            when duplicate_object or unique_violation then null;
            when insufficient_privilege then
                raise notice 'role % is missing and % may not create it; create it, then run: select minutehand.grant_roles()',
                             role, current_user;
                continue;
        end;
        execute format('grant usage on schema minutehand to %I', role);
        execute format('grant select on minutehand.migrations, minutehand.schema_files to %I', role);
        return next role;
        continue when role = 'minutehand_migrator';
        execute format('grant execute on function minutehand.enqueue_all, minutehand.enqueue, minutehand.enqueue_incoming,
                                                  minutehand.keep_events to %I', role);
        execute format('grant insert on minutehand.new_jobs to %I', role);
        perform minutehand.make_policies(role);
    end loop;
    perform minutehand.grant_worker() where to_regrole('minutehand_worker') is not null;
    perform minutehand.grant_desk('minutehand_tenant') where to_regrole('minutehand_tenant') is not null;
    perform minutehand.grant_desk('minutehand_operator'), minutehand.grant_operator()
      where to_regrole('minutehand_operator') is not null;
end
$$;

-- Grants what dispatchers and workers need.
create or replace function minutehand.grant_worker() returns void
language plpgsql volatile
as $$
begin
    grant select on minutehand.jobs, minutehand.jobs_live, minutehand.controls to minutehand_worker;
    grant update (ack, prior, offered, claimed, visible, attempts, error, lapsed, result) on minutehand.jobs_live to minutehand_worker;
    grant update (deleted, failed, cancelled, result, error, version) on minutehand.jobs to minutehand_worker;
    grant insert on minutehand.attempts to minutehand_worker;
    grant select, update (until), delete on minutehand.uniques to minutehand_worker;
    grant select, delete on minutehand.superseded to minutehand_worker;
    grant select, insert, update, delete on minutehand.schedules to minutehand_worker;
    grant select, delete on minutehand.firings to minutehand_worker;
    grant select, insert, update (floor) on minutehand.lanes to minutehand_worker;
    grant select, update on minutehand.dispatcher to minutehand_worker;
    grant select, insert, update on minutehand.budgets to minutehand_worker;
    grant execute on function minutehand.state, minutehand.make_days_ahead, minutehand.retain_now, minutehand.choose,
                              minutehand.count_unpaused, minutehand.lapse, minutehand.create_occurrence, minutehand.fire,
                              minutehand.withdraw_ahead, minutehand.copy_of, minutehand.refuse_superseded
          to minutehand_worker;
end
$$;

-- Grants what is needed to read and change jobs and schedules, of all tenants or of one.
create or replace function minutehand.grant_desk(role text) returns void
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
                                              minutehand.queues_seen, minutehand.copy_of,
                                              minutehand.refuse_superseded, minutehand.regain_key to %I', role);
end
$$;

-- Grants what only operators need: what has no tenant, and what bounds every tenant.
create or replace function minutehand.grant_operator() returns void
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
    perform minutehand.grant_archiver();
    perform minutehand.grant_loader();
end
$$;

-- Grants what operators need to copy days to a lake.
create or replace function minutehand.grant_archiver() returns void
language plpgsql volatile
as $$
begin
    grant select on minutehand.jobs_done_default, minutehand.attempts_default, minutehand.events_default to minutehand_operator;
    grant select, insert, delete on minutehand.archive_batches to minutehand_operator;
    grant select, insert, update on minutehand.erased to minutehand_operator;
    grant execute on function minutehand.as_number, minutehand.as_micros, minutehand.identities, minutehand.in_the_lake,
                              minutehand.drop_archived, minutehand.exchange_default to minutehand_operator;
end
$$;

-- Grants what operators need to load files.
create or replace function minutehand.grant_loader() returns void
language plpgsql volatile
as $$
begin
    grant select on minutehand.loads, minutehand.load_runs to minutehand_operator;
    grant execute on function minutehand.begin_load, minutehand.end_load, minutehand.staged_name, minutehand.announce_load,
                              minutehand.enqueue_load to minutehand_operator;
end
$$;

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

-- Gives the schema and everything in it to another owner, which then applies later migrations. The caller must
-- own it, and be a superuser or a member of that role. Policies follow their tables.
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

-- Every session that may use the schema may call these; for all other functions a role needs a grant.
revoke execute on all functions in schema minutehand from public;
grant execute on function
    minutehand.as_tenant, minutehand.busy, minutehand.current_tenant, minutehand.enqueue, minutehand.enqueue_all,
    minutehand.fault_of_every, minutehand.fault_of_key, minutehand.first_of, minutehand.is_every, minutehand.is_headers,
    minutehand.is_retry, minutehand.is_zone, minutehand.kept_latest, minutehand.key_of, minutehand.no_job,
    minutehand.refuse, minutehand.sentence, minutehand.session_role, minutehand.state, minutehand.uuid7
    to public;
select minutehand.grant_roles();
