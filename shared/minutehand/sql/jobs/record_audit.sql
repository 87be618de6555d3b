-- Writes audit entries. A change to a tenant's job is in the trail of that tenant, whatever session makes it.
insert into minutehand.audit (tenant, actor, verb, job, facts)
select coalesce(done.tenant, minutehand.current_tenant()), coalesce(%(actor)s, session_user), %(verb)s, job, facts
  from unnest(%(jobs)s::uuid[], %(facts)s::text[]::jsonb[], %(tenants)s::text[]) as done (job, facts, tenant)
