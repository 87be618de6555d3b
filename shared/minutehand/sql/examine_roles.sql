-- Which of the schema's roles there are, and what each lacks of what migration 4 gives it.
with wanted (role, thing, privilege, columns) as (values
    ('minutehand_enqueuer', 'minutehand', 'usage', null::text[]),
    ('minutehand_enqueuer', 'minutehand.migrations', 'select', null),
    ('minutehand_enqueuer', 'minutehand.incoming', 'insert', null),
    ('minutehand_enqueuer', 'minutehand.enqueue_all(minutehand.new_job[],text)', 'execute', null),
    ('minutehand_enqueuer', 'minutehand.enqueue_incoming(uuid,text)', 'execute', null),
    ('minutehand_worker', 'minutehand', 'usage', null),
    ('minutehand_worker', 'minutehand.migrations', 'select', null),
    ('minutehand_worker', 'minutehand.incoming', 'insert', null),
    ('minutehand_worker', 'minutehand.enqueue_all(minutehand.new_job[],text)', 'execute', null),
    ('minutehand_worker', 'minutehand.enqueue_incoming(uuid,text)', 'execute', null),
    ('minutehand_worker', 'minutehand.make_days_ahead()', 'execute', null),
    ('minutehand_worker', 'minutehand.dispatcher', 'select', null),
    ('minutehand_worker', 'minutehand.dispatcher', 'update', null),
    ('minutehand_worker', 'minutehand.budgets', 'select', null),
    ('minutehand_worker', 'minutehand.budgets', 'insert', null),
    ('minutehand_worker', 'minutehand.budgets', 'update', null),
    ('minutehand_worker', 'minutehand.lanes', 'select', null),
    ('minutehand_worker', 'minutehand.lanes', 'insert', null),
    ('minutehand_worker', 'minutehand.lanes', 'update', '{floor}'),
    ('minutehand_worker', 'minutehand.jobs_live', 'select', null),
    ('minutehand_worker', 'minutehand.jobs_live', 'update', '{ack,prior,offered,claimed,visible,attempts,error}'),
    ('minutehand_worker', 'minutehand.jobs', 'select', '{id,ack,prior,queue,kind,priority,attempts,visible,deleted,error}'),
    ('minutehand_worker', 'minutehand.jobs', 'update', '{deleted,failed,cancelled,result,error}'),
    ('minutehand_operator', 'minutehand', 'usage', null),
    ('minutehand_operator', 'minutehand.migrations', 'select', null),
    ('minutehand_operator', 'minutehand.incoming', 'insert', null),
    ('minutehand_operator', 'minutehand.enqueue_all(minutehand.new_job[],text)', 'execute', null),
    ('minutehand_operator', 'minutehand.enqueue_incoming(uuid,text)', 'execute', null),
    ('minutehand_operator', 'minutehand.jobs', 'select', null),
    ('minutehand_operator', 'minutehand.jobs', 'delete', null),
    ('minutehand_operator', 'minutehand.jobs', 'update',
        '{ack,prior,offered,claimed,visible,run_at,attempts,deleted,failed,cancelled,error}'),
    ('minutehand_operator', 'minutehand.jobs_live', 'select', null),
    ('minutehand_operator', 'minutehand.jobs_done_default', 'select', null),
    ('minutehand_operator', 'minutehand.lanes', 'select', null),
    ('minutehand_operator', 'minutehand.settings', 'select', null),
    ('minutehand_operator', 'minutehand.dispatcher', 'select', null),
    ('minutehand_operator', 'minutehand.budgets', 'select', null),
    ('minutehand_operator', 'minutehand.defaults', 'select', null),
    ('minutehand_operator', 'minutehand.defaults', 'insert', null),
    ('minutehand_operator', 'minutehand.defaults', 'update', null),
    ('minutehand_migrator', 'minutehand', 'usage', null),
    ('minutehand_migrator', 'minutehand.migrations', 'select', null)
)
select w.role, r.oid is not null as made,
       coalesce(array_agg(w.privilege || ' on ' || w.thing) filter (where r.oid is not null and not case
           when w.thing like '%%)' then has_function_privilege(r.oid, w.thing, w.privilege)
           when w.thing = 'minutehand' then has_schema_privilege(r.oid, w.thing, w.privilege)
           when w.columns is null then has_table_privilege(r.oid, w.thing, w.privilege)
           else (select bool_and(has_column_privilege(r.oid, w.thing, each, w.privilege)) from unnest(w.columns) each) end),
           '{}') as lacks
  from wanted w left join pg_roles r on r.rolname = w.role
 group by 1, 2
 order by 1
