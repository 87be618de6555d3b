-- Events: what happened to jobs is kept in a table, where a setting asks for it.

create index events_job on minutehand.events (job, at);

-- Keeps events, in the caller's transaction if there is one; a session's own tenant is the events', whatever they say.
-- Rather than have a job wait for its partition, it gives up.
create function minutehand.keep_events(told jsonb) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '1s'
as $$
declare
    moment timestamptz := clock_timestamp();
begin
    insert into minutehand.events (id, at, tenant, name, job, queue, kind, facts)
    select e.id, moment + interval '1 microsecond' * (row_number() over () - 1),  -- they keep their order
           coalesce(nullif(minutehand.current_tenant(), ''), e.tenant, ''), e.name, e.job, e.queue, e.kind,
           jsonb_strip_nulls(jsonb_build_object('key', e.key, 'attempt', e.attempt, 'max_attempts', e.max_attempts))
               || coalesce(e.facts, '{}')
      from jsonb_to_recordset(told) as e (id uuid, tenant text, name text, job uuid, queue text, kind text, key text,
                                          attempt integer, max_attempts integer, facts jsonb);
end
$$;

revoke execute on function minutehand.keep_events(jsonb) from public;
