-- Roles: who enqueues, who works, who operates and who migrates, each with what it needs and nothing else.
--
--   minutehand_enqueuer   enqueues; sees no job
--   minutehand_worker     dispatcher and workers: offers, claims, finishes, keeps up; and enqueues
--   minutehand_operator   API and command line: looks at jobs, changes those that do not run, purges; and enqueues
--   minutehand_migrator   may own the schema; see hand_over
--
-- They are groups that nobody logs in as. They belong to the whole server, so another database may have made them.

-- Makes the days ahead with the owner's rights, for workers, who may not say how many.
create function minutehand.make_days_ahead() returns integer
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    select minutehand.make_days()
$$;

-- Makes the roles where the caller may, and gives those that exist what they need; says which those are. Only the
-- owner of the schema has anything to give. A day of finished jobs needs no grant: nobody asks for it by its name.
create function minutehand.grant_roles() returns setof text
language plpgsql volatile
as $$
declare
    role text;
begin
    foreach role in array '{minutehand_enqueuer,minutehand_worker,minutehand_operator,minutehand_migrator}'::text[] loop
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
        execute format('grant execute on function minutehand.enqueue_all, minutehand.enqueue, minutehand.enqueue_incoming to %I', role);
        execute format('grant insert on minutehand.incoming to %I', role);
    end loop;

    if to_regrole('minutehand_worker') is not null then
        grant select on minutehand.jobs_live to minutehand_worker;
        grant update (ack, prior, offered, claimed, visible, attempts, error) on minutehand.jobs_live to minutehand_worker;
        grant select (id, ack, prior, queue, kind, priority, attempts, visible, deleted, error),
              update (deleted, failed, cancelled, result, error) on minutehand.jobs to minutehand_worker;
        grant select, insert, update (floor) on minutehand.lanes to minutehand_worker;
        grant select, update on minutehand.dispatcher to minutehand_worker;
        grant select, insert, update on minutehand.budgets to minutehand_worker;
        grant execute on function minutehand.make_days_ahead to minutehand_worker;
    end if;
    if to_regrole('minutehand_operator') is not null then
        grant select, delete,
              update (ack, prior, offered, claimed, visible, run_at, attempts, deleted, failed, cancelled, error)
           on minutehand.jobs to minutehand_operator;
        grant select on minutehand.jobs_live, minutehand.jobs_done_default, minutehand.lanes, minutehand.settings,
                        minutehand.dispatcher, minutehand.budgets to minutehand_operator;
        grant select, insert, update on minutehand.defaults to minutehand_operator;
        grant execute on function minutehand.state to minutehand_operator;
    end if;
end
$$;

-- Gives the schema and all that is in it to another owner, who applies the later migrations. The caller owns it, and
-- is a superuser or a member of that role.
create function minutehand.hand_over(new_owner name default 'minutehand_migrator') returns void
language plpgsql volatile
as $$
declare
    change text;
begin
    execute format('alter schema minutehand owner to %I', new_owner);
    for change in
        select format('alter table %s owner to %I', oid::regclass, new_owner)
          from pg_class where relnamespace = 'minutehand'::regnamespace and relkind in ('r', 'p')
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

revoke execute on function minutehand.make_days_ahead(), minutehand.grant_roles(), minutehand.hand_over(name) from public;
select minutehand.grant_roles();
