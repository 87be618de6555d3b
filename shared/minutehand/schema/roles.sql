-- Roles, grants and policies. Applied after the functions, whenever this file or one of them changed.
--
--   minutehand_enqueuer   enqueues; reads no jobs
--   minutehand_worker     dispatcher and workers: offers, claims, finishes, maintains; and enqueues
--   minutehand_operator   API and command line: reads jobs, changes those that are not running, deletes them; and enqueues
--   minutehand_tenant     as minutehand_operator, within one tenant, without what all tenants share
--   minutehand_reader     reads what minutehand_operator reads, and changes nothing
--   minutehand_migrator   may own the schema; see hand_over
--
-- The roles are groups without a login. They belong to the server, so another database may have created them.
--
-- Row-level security on the tables with a column `tenant`:
--
--   minutehand_worker     all rows: dispatcher and workers serve every tenant, and their plans have no filter
--   minutehand_operator   all rows, or those of one tenant in a transaction that called as_tenant; minutehand_reader as well
--   minutehand_tenant     the rows of the tenant that the transaction set or that the role is bound to
--   others                none, except the owner and superusers, whom no policy restricts
--
-- A login that is a member of several roles sees what any of them sees. Security definer functions bypass the
-- policies and check current_tenant() themselves.

-- Returns the privileges of each role, on one or more objects: tables, or functions by name. `columns` limits a privilege to
-- columns. A day's partition needs no grant: no statement names it.
-- Operators and tenants change jobs and schedules through functions: with UPDATE or DELETE on a table, any session may lock it
-- against everyone.
create or replace function minutehand.permissions() returns table (role text, privilege text, object text, columns text)
language sql immutable
as $$
    select 'minutehand_' || role, privilege, object, columns
      from (values
        ('enqueuer worker operator tenant reader migrator', 'select', 'migrations schema_files', null),
        ('enqueuer worker operator tenant', 'execute', 'permissions as_tenant current_tenant session_role refuse sentence key_of
                                                        enqueue enqueue_all enqueue_alike enqueue_incoming enqueue_plain open_batch close_batch callbacks_of
                                                        keep_events too_large uuid7 is_headers is_retry is_on_dead offer_now withdraw_now', null),
        ('enqueuer worker operator tenant', 'insert', 'new_jobs', null),

        ('worker operator tenant reader', 'select', 'jobs jobs_live batches controls schedules firings', null),
        ('worker operator tenant reader', 'execute', 'state busy busy_alike bounds_job control_states retry_holds group_state next_start expires_at batch_progress awaited_by', null),
        ('worker operator tenant', 'execute', 'copy_of save_schedule pause_schedule delete_schedule replace_schedule_payload fire_now withdraw_ahead', null),
        -- Read and change jobs, of all tenants or of one.
        ('operator tenant reader', 'select', 'attempts events uniques audit history history_counted unclaimed_offers dispatcher_usage', null),
        ('operator tenant reader', 'execute', 'count_history duration_class first_id cause matches payload_matches version_numbers queues_seen batches_in unfinished_in failed_in', null),
        ('operator tenant', 'execute', 'cancel_jobs request_cancellation promote_jobs reschedule_jobs retry_jobs edit_jobs delete_jobs delete_upcoming delete_finished replace_payloads cancel_batch retry_batch check_change open_in record_audit unblock', null),
        ('reader', 'execute', 'permissions as_tenant current_tenant readers_tenant session_role refuse sentence too_large', null),

        -- Dispatch and work. These write directly: they are the hot path, and a function would cost a claim more.
        ('worker', 'select', 'uniques superseded lanes lane_changes dispatcher budgets positions take_locks waiting watches rates breakers
                              kind_times batch_checks predecessor_checks waits dispatcher_usage', null),
        ('worker', 'select', 'settings', 'max_result priority_step'),
        ('worker', 'select', 'attempts', 'job ended attempt'),
        ('worker', 'update', 'attempts', 'error'),
        ('worker', 'update', 'jobs_live', 'ack prior offered claimed visible attempts error lapsed result'),
        ('worker', 'update', 'jobs', 'deleted failed cancelled result error version awaited'),
        ('worker', 'update', 'schedules', 'next wake fired last error'),
        ('worker', 'update', 'uniques', 'until'),
        ('worker', 'update', 'lanes', 'floor shared grouped mixed idle emptied'),
        ('worker', 'update', 'lane_changes', 'visible'),
        ('worker', 'update', 'positions', 'blocked'),
        ('worker', 'update', 'dispatcher budgets take_locks waiting rates kind_times dispatcher_usage', null),
        ('worker', 'insert', 'attempts lanes budgets watches kind_times dispatcher_usage', null),
        ('worker', 'delete', 'lanes lane_changes uniques superseded firings positions watches rates kind_times', null),
        ('worker', 'execute', 'make_days_ahead retain_now choose count_taken due_floors due_lanes count_unpaused lapse create_occurrence create_occurrence_at_tick create_on_dead
                              refuse_superseded fire fire_at_tick free_slots budget_at suits next_due count_ends delete_batches check_batches check_predecessors prune_groups
                              oldest_writer cancel_lapsed count_minutes prune_history note_unclaimed prune_unclaimed note_outcomes breaker_state breaker_of order_of some_blocked_groups end_dead_loads may_settle', null),

        -- What has no tenant, and what bounds every tenant.
        ('operator reader', 'select', 'lanes lane_changes breakers settings dispatcher budgets defaults queue_defaults retention archived_days jobs_done_default shares batch_checks predecessor_checks loads load_runs', null),
        ('operator', 'insert', 'defaults queue_defaults controls retention archived_days shares', null),
        ('operator', 'update', 'defaults queue_defaults controls retention archived_days shares', null),
        ('operator', 'update', 'settings', 'keep_until_archived'),
        ('operator', 'delete', 'controls retention archived_days shares', null),
        ('operator reader', 'execute', 'days due_floors due_lanes count_unpaused budget_at breaker_state breaker_of some_blocked_groups dead_loads', null),
        -- Copy days to a lake.
        ('operator', 'select', 'attempts_default events_default archive_batches erased', null),
        ('operator', 'insert', 'archive_batches erased', null),
        ('operator', 'update', 'erased', null),
        ('operator', 'delete', 'archive_batches', null),
        ('operator', 'execute', 'hold_ticks recall_offers as_number as_micros identities in_the_lake begin_archive drop_archived exchange_default', null),
        -- Load files.
        ('operator', 'execute', 'begin_load end_load end_dead_loads load_lock staged_name enqueue_load', null)
      ) given (roles, privilege, objects, columns),
           regexp_split_to_table(roles, '\s+') role, regexp_split_to_table(objects, '\s+') object
$$;

-- Creates the roles if the caller may, and gives those that exist exactly their privileges; returns their names. Only the
-- owner of the schema can grant.
create or replace function minutehand.grant_roles() returns setof text
language plpgsql volatile
as $$
declare
    role text;
begin
    foreach role in array
        '{minutehand_enqueuer,minutehand_worker,minutehand_operator,minutehand_tenant,minutehand_reader,minutehand_migrator}'::text[] loop
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
        perform minutehand.revoke_others(role);
        execute format('grant usage on schema minutehand to %I', role);
        perform minutehand.grant_role(role);
        perform minutehand.make_policies(role);
        return next role;
    end loop;
end
$$;

-- Grants a role its permissions.
create or replace function minutehand.grant_role(of_role text) returns void
language plpgsql volatile
as $$
declare
    given record;
begin
    for given in select * from minutehand.permissions() p where p.role = of_role loop
        execute format('grant %s%s on %s minutehand.%I to %I', given.privilege, ' (' || replace(given.columns, ' ', ', ') || ')',
                       case given.privilege when 'execute' then 'function' else 'table' end, given.object, of_role);
    end loop;
end
$$;

-- Revokes a role's privileges on tables and functions that it should not have, such as those of an earlier version. `public`
-- should have none: by default, Postgres lets everyone execute new functions and use new types.
-- An owner of the schema keeps its privileges.
create or replace function minutehand.revoke_others(of_role text) returns void
language plpgsql volatile
as $$
declare
    held record;
begin
    for held in
        select a.kind, a.object, a.privilege, a.columns
          from minutehand.privileges() a
         where a.role = of_role and a.kind <> 'schema'
           -- The table of a load in progress.
           and not (a.kind = 'table' and a.name ~ '^staged_[0-9a-f]{32}$')
           and not exists (select from minutehand.permissions() p
                            where p.role = of_role and p.object = a.name and p.privilege = a.privilege
                              and (p.columns is null and a.columns is null or a.columns = any (string_to_array(p.columns, ' '))))
    loop
        execute format('revoke %s%s on %s %s from %s', held.privilege, ' (' || quote_ident(held.columns) || ')', held.kind, held.object,
                       case of_role when 'public' then of_role else quote_ident(of_role) end);
    end loop;
end
$$;

-- Returns the privileges that roles other than the owner have; `columns` is one column. The role `public` is everyone.
create or replace function minutehand.privileges()
returns table (role text, privilege text, kind text, object text, name text, columns text)
language sql stable
as $$
    with owned as (
        select 'schema' as kind, nspname::text as object, nspname::text as name, null as columns, nspowner as owner, nspacl as acl
          from pg_namespace where nspname = 'minutehand'
        union all
        select 'table', c.oid::regclass::text, c.relname, null, c.relowner, c.relacl
          from pg_class c where c.relnamespace = 'minutehand'::regnamespace and c.relkind in ('r', 'p', 'v')
        union all
        select 'table', c.oid::regclass::text, c.relname, a.attname, c.relowner, a.attacl
          from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relnamespace = 'minutehand'::regnamespace and c.relkind in ('r', 'p', 'v') and a.attacl is not null
        union all
        select 'sequence', c.oid::regclass::text, c.relname, null, c.relowner, c.relacl
          from pg_class c where c.relnamespace = 'minutehand'::regnamespace and c.relkind = 'S'
        union all
        select 'function', p.oid::regprocedure::text, p.proname, null, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
          from pg_proc p where p.pronamespace = 'minutehand'::regnamespace
        union all
        select 'type', t.oid::regtype::text, t.typname, null, t.typowner, coalesce(t.typacl, acldefault('T', t.typowner))
          from pg_type t left join pg_class c on c.oid = t.typrelid
         where t.typnamespace = 'minutehand'::regnamespace and (t.typtype = 'd' or c.relkind = 'c')
    )
    select case a.grantee when 0 then 'public' else a.grantee::regrole::text end, lower(a.privilege_type), o.kind, o.object, o.name,
           o.columns
      from owned o, aclexplode(o.acl) a
     where a.grantee <> o.owner
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
        union all
        select format('alter statistics minutehand.%I owner to %I', stxname, new_owner)
          from pg_statistic_ext where stxnamespace = 'minutehand'::regnamespace
    loop
        execute change;
    end loop;
end
$$;

-- Postgres lets everyone execute a new function and use a new type. After each change of the schema nobody may, without a
-- grant. Default privileges cannot do this for one schema.
select minutehand.revoke_others('public');
select minutehand.grant_roles();
