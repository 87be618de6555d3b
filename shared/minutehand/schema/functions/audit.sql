-- The audit trail: changes by people.

-- Writes audit entries, each to the trail of its tenant, or else of the session's. A tenant's session writes only to the
-- trail of its tenant, and not about jobs of others; their entries outlive them. The name of an actor is a claim: a login
-- that is bound to a tenant is stored with it. No size of an actor or of facts can fail the change that they describe.
create or replace function minutehand.record_audit(actor text, verb text, jobs uuid[], facts text[], tenants text[]) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    scope   text := minutehand.tenant_scope();
    claimed text := left(coalesce(actor, session_user), 130);
begin
    if claimed <> session_user and exists (select from minutehand.tenant_roles t where t.role in (session_user, minutehand.session_role())) then
        claimed := format('%s (%s)', claimed, session_user);
    end if;
    if scope = '-' then
        perform minutehand.refuse('tenant_is_set');
    elsif scope <> '' and (exists (select from unnest(tenants) t where t <> scope)
                           or minutehand.jobs_of_others(record_audit.jobs, scope) <> '{}') then
        perform minutehand.refuse('tenant_is_own', 'a session of a tenant must write audit entries only about its own jobs', '42501');
    end if;
    insert into minutehand.audit (tenant, actor, verb, job, facts)
    select coalesce(done.tenant, scope), claimed, record_audit.verb, done.job, minutehand.bounded_facts(done.facts::jsonb)
      from unnest(record_audit.jobs, record_audit.facts, record_audit.tenants) as done (job, facts, tenant);
end
$$;

-- Returns facts that a row can store; those that are too large are left out as a whole.
create or replace function minutehand.bounded_facts(facts jsonb) returns jsonb
language plpgsql immutable
as $$
begin
    if octet_length(facts::text) > 65536 then
        return jsonb_build_object('omitted', format('%s bytes', octet_length(facts::text)));
    end if;
    return facts;
end
$$;

-- Returns those jobs that belong to another tenant, or did before they were deleted, as far as the audit trail shows.
create or replace function minutehand.jobs_of_others(jobs uuid[], than text) returns uuid[]
language plpgsql stable
as $$
begin
    return array(select j.id from minutehand.jobs j where j.id = any (jobs) and j.tenant <> than
                 union
                 select a.job
                   from minutehand.audit a
                  where a.job = any (jobs) and a.tenant <> than
                    and not exists (select from minutehand.jobs j where j.id = a.job));
end
$$;
