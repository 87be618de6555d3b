-- Plain: a job without a key, a recurrence or predecessors, so that no other job matters to it. Nearly every single job is one.

-- Enqueues one job with this id; returns when it is visible. By the rules of enqueue_all; a test compares every column.
create or replace function minutehand.enqueue_plain(
    as_id        uuid,
    kind         text,
    payload      json        default null,
    queue        text        default null,
    "group"      text        default null,
    run_at       timestamptz default null,
    delay        interval    default null,
    priority     integer     default null,
    max_attempts integer     default null,
    retry        jsonb       default null,
    timeout      interval    default null,
    headers      jsonb       default null,
    personal     boolean     default null,
    tenant       text        default null,
    expires      interval    default null,
    on_dead      json        default null,
    batch        uuid        default null
) returns timestamptz
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
#variable_conflict use_variable
declare
    moment timestamptz := clock_timestamp();
    owner  text;
    due    timestamptz;
begin
    -- One condition: Postgres prepares each expression of a function again in each transaction.
    if kind is null or delay < interval '0' or num_nonnulls(run_at, delay) = 2 then
        if kind is null then
            perform minutehand.refuse('kind_is_a_name', 'kind must not be null');
        end if;
        perform minutehand.refuse(case when delay < interval '0' then 'delay_is_not_negative' else 'run_at_or_delay' end);
    end if;
    owner := minutehand.tenant_of(tenant);
    due := greatest(coalesce(run_at, moment + delay, moment), moment);
    insert into minutehand.jobs_live
           (id, enqueued, queue, kind, "group", payload, headers, run_at, visible, priority, max_attempts, retry, timeout, personal,
            tenant, expires, on_dead, batch)
    select as_id, moment, coalesce(queue, d.queue, 'default'), kind, "group", coalesce(payload, 'null'), headers, due, due,
           coalesce(priority, d.priority, q.priority, 5), coalesce(max_attempts, d.max_attempts, q.max_attempts, 8),
           coalesce(retry, d.retry, q.retry), coalesce(timeout, d.timeout, q.timeout), coalesce(personal, false), owner, expires,
           -- JSON null is none, not even the default.
           nullif(coalesce(on_dead, d.on_dead, q.on_dead)::text, 'null')::minutehand.on_dead, batch
      from minutehand.settings s
      left join minutehand.defaults d on d.kind = enqueue_plain.kind
      left join minutehand.queue_defaults q on q.queue = coalesce(enqueue_plain.queue, d.queue, 'default')
     -- It has one row, which the planner knows only from this.
     where s.one
       and (payload is null or octet_length(payload::text) <= s.max_payload
            or minutehand.too_large('payload', octet_length(payload::text), s.max_payload, 'bytes'));
    if batch is not null then
        perform minutehand.add_to_batches(array[batch], array[as_id], array[owner], minutehand.current_tenant());
    end if;
    return due;
end
$$;
