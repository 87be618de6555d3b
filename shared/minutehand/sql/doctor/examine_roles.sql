-- The schema's roles, whether each exists, and which privileges of grant_roles it lacks.
with given (roles, things, privilege, columns) as (values
    ('{enqueuer,worker,operator,tenant,migrator}'::text[], '{minutehand}'::text[], 'usage', null::text[]),
    ('{enqueuer,worker,operator,tenant,migrator}', '{migrations,schema_files}', 'select', null),
    ('{enqueuer,worker,operator,tenant}', '{new_jobs}', 'insert', null),
    ('{enqueuer,worker,operator,tenant}',
     '{"enqueue_all(minutehand.new_jobs[],text)","enqueue_incoming(uuid,text)","keep_events(jsonb)"}', 'execute', null),
    ('{worker,operator,tenant}', '{jobs,jobs_live,attempts,events,schedules,firings,controls,uniques,audit}', 'policy', null),
    ('{worker,operator,tenant}', '{jobs,jobs_live,controls,schedules,firings}', 'select', null),
    ('{worker,operator,tenant}', '{schedules}', 'insert', null),
    ('{worker,operator,tenant}', '{schedules}', 'update', null),
    ('{worker,operator,tenant}', '{schedules}', 'delete', null),
    ('{worker,operator,tenant}',
     '{"state(minutehand.jobs,timestamptz)","lapse(minutehand.jobs,integer,timestamptz)","fire(json)","withdraw_ahead(text,text,timestamptz)",
       "copy_of(minutehand.jobs,bigint,text,timestamptz,integer)","refuse_superseded(uuid)"}', 'execute', null),
    ('{worker}', '{jobs_live}', 'update', '{ack,prior,offered,claimed,visible,attempts,error,lapsed,result}'),
    ('{worker}', '{jobs}', 'update', '{deleted,failed,cancelled,result,error,version}'),
    ('{worker}', '{attempts,lanes,budgets}', 'insert', null),
    ('{worker}', '{lanes,dispatcher,budgets}', 'select', null),
    ('{worker}', '{lanes}', 'update', '{floor}'),
    ('{worker}', '{dispatcher,budgets}', 'update', null),
    ('{worker}', '{uniques,firings,superseded}', 'delete', null),
    ('{worker}', '{uniques,superseded}', 'select', null),
    ('{worker}', '{uniques}', 'update', '{until}'),
    ('{worker}', '{"make_days_ahead()","retain_now()","create_occurrence(minutehand.jobs_live,timestamptz)",
       "choose(integer,timestamptz,text[],integer[],text)","count_unpaused(bigint,timestamptz)"}', 'execute', null),
    ('{operator,tenant}', '{attempts,events,uniques,audit}', 'select', null),
    ('{operator,tenant}', '{jobs}', 'delete', null),
    ('{operator,tenant}', '{jobs}', 'update',
     '{ack,prior,offered,claimed,visible,run_at,attempts,deleted,failed,cancelled,error,payload,headers,priority,max_attempts,retry,timeout,cancelling,lapsed,every}'),
    ('{operator,tenant}', '{audit}', 'insert', null),
    ('{operator,tenant}', '{"regain_key(uuid,text,text,text)","fitting(json)","version_numbers(text)","queues_seen()","bounds_job(minutehand.bound,text,text,text,text)"}', 'execute', null),
    ('{operator}', '{jobs_done_default,lanes,settings,dispatcher,budgets,defaults,queue_defaults,retention,archived_days}', 'select', null),
    ('{operator}', '{defaults,queue_defaults,controls,retention,archived_days}', 'insert', null),
    ('{operator}', '{defaults,queue_defaults,controls,retention,archived_days}', 'update', null),
    ('{operator}', '{controls,retention,archived_days}', 'delete', null),
    ('{operator}', '{settings}', 'update', '{keep_until_archived}'),
    ('{operator}', '{"days()","hold_ticks()","count_unpaused(bigint,timestamptz)"}', 'execute', null),
    ('{operator}', '{attempts_default,events_default,archive_batches,erased,loads,load_runs}', 'select', null),
    ('{operator}', '{archive_batches,erased}', 'insert', null),
    ('{operator}', '{archive_batches}', 'delete', null),
    ('{operator}', '{erased}', 'update', null),
    ('{operator}', '{"as_number(text)","as_micros(timestamptz)","identities(text,text,date)","in_the_lake(text,text,date)",
       "drop_archived(text,date)","exchange_default(text,date[],integer)","begin_load(text,uuid)","end_load(uuid)",
       "staged_name(uuid)","announce_load(uuid)",
       "enqueue_load(text,uuid,text[],bigint[],bigint[],text,bigint,timestamptz,interval)"}', 'execute', null)
), wanted as (
    select 'minutehand_' || role as role, case thing when 'minutehand' then thing else 'minutehand.' || thing end as thing,
           privilege, columns
      from given, unnest(roles) role, unnest(things) thing
)
select w.role, r.oid is not null as made,
       coalesce(array_agg(w.privilege || ' on ' || w.thing) filter (where r.oid is not null and not case
           when w.privilege = 'policy' then exists (
                select from pg_policy p where p.polrelid = w.thing::regclass and r.oid = any (p.polroles))
           when w.thing like '%%)' then has_function_privilege(r.oid, w.thing, w.privilege)
           when w.thing = 'minutehand' then has_schema_privilege(r.oid, w.thing, w.privilege)
           when w.columns is null then has_table_privilege(r.oid, w.thing, w.privilege)
           else (select bool_and(has_column_privilege(r.oid, w.thing, each, w.privilege)) from unnest(w.columns) each) end),
           '{}') as lacks
  from wanted w left join pg_roles r on r.rolname = w.role
 group by 1, 2
 order by 1
