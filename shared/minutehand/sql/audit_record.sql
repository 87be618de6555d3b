-- Writes down who did what to which jobs, and with what.
insert into minutehand.audit (tenant, who, verb, job, facts)
select minutehand.current_tenant(), coalesce(%(who)s, session_user), %(verb)s, job, facts
  from unnest(%(jobs)s::uuid[], %(facts)s::text[]::jsonb[]) as done (job, facts)
