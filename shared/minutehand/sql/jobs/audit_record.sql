-- Writes down who did what to which jobs, and with what. What is done to a tenant's job is in that tenant's trail,
-- whoever does it.
insert into minutehand.audit (tenant, who, verb, job, facts)
select coalesce(done.tenant, minutehand.current_tenant()), coalesce(%(who)s, session_user), %(verb)s, job, facts
  from unnest(%(jobs)s::uuid[], %(facts)s::text[]::jsonb[], %(tenants)s::text[]) as done (job, facts, tenant)
