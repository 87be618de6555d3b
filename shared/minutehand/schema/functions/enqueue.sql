-- Enqueue: Python, REST and SQL all enqueue through enqueue_all.
--
--   put_all     writes items in one statement; the fast path, which nearly every job takes; see put_all.sql
--   put_keyed   writes one item whose key has more options; see keys.sql

-- Enqueues jobs. Returns for each item, by its ordinal, an outcome:
--   created    a new job
--   replaced   the upcoming job with that key now has this item's values; it keeps its id
--   merged     this item's payload was merged into the upcoming job with that key
--   ignored    nothing changed: an upcoming job with that key stays (on_conflict = 'ignore', or the item is
--              identical to it), a later item of the same call replaces this one, or an earlier job holds the key
--              (unique_for, unique_while); `id` is that job's, `visible` its time, or when the key is free again
-- A time in the past means now. With on_conflict = 'raise', a key that is taken, even by an earlier item,
-- raises SQLSTATE 23505. An item's own on_conflict takes precedence over the call's.
create or replace function minutehand.enqueue_all(items minutehand.new_jobs[], on_conflict text default 'replace')
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
#variable_conflict use_column
declare
    moment         timestamptz := clock_timestamp();
    first          bigint := items[1].ordinal;
    keyed          boolean := minutehand.check_new(items, enqueue_all.on_conflict);
    session_tenant text := minutehand.check_tenants(items);
    item           minutehand.new_jobs;
begin
    if not keyed then
        return query select * from minutehand.put_all(items, enqueue_all.on_conflict, moment, first, session_tenant);
        return;
    end if;
    return query select * from minutehand.put_all(array(select i from unnest(items) i where i.key is null), 'replace', moment, first, session_tenant);
    -- In the order of put_all, so that concurrent enqueuers do not deadlock.
    for item in select * from unnest(items) i where i.key is not null order by i.key, i.queue, i.tenant, i.ordinal loop
        return query select * from minutehand.put_keyed(item, enqueue_all.on_conflict, moment, first, session_tenant);
    end loop;
end
$$;

-- Enqueues one job, from any language and from triggers; see enqueue_all for the outcomes.
-- In plpgsql, which plans its statement once per session instead of once per call.
--
--   select * from minutehand.enqueue('welcome', '{"email": "ada@example.com"}', delay => '3 days');
create or replace function minutehand.enqueue(
    kind         text,
    payload      json        default 'null',
    queue        text        default null,
    key          text        default null,
    "group"      text        default null,
    run_at       timestamptz default null,
    delay        interval    default null,
    priority     integer     default null,
    max_attempts integer     default null,
    retry        jsonb       default null,
    timeout      interval    default null,
    headers      jsonb       default null,
    on_conflict  text        default 'replace',
    every        text        default null,
    zone         text        default null,
    personal     boolean     default null,
    tenant       text        default null,
    unique_while text        default null,
    unique_for   interval    default null,
    debounce     interval    default null,
    debounce_max interval    default null,
    throttle     interval    default null,
    expires      interval    default null,
    on_dead      json        default null,
    batch        uuid        default null,
    after        uuid[]      default null,
    after_failure text       default null,
    as_id        uuid        default null
) returns table (id uuid, outcome text, visible timestamptz)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
    item minutehand.new_jobs;
begin
    if num_nonnulls(key, every, zone, unique_while, unique_for, debounce, debounce_max, throttle, after, after_failure) = 0
       and on_conflict in ('replace', 'ignore', 'raise', 'merge') then
        id := coalesce(as_id, minutehand.uuid7());
        visible := minutehand.enqueue_plain(id, kind, payload, queue, "group", run_at, delay, priority, max_attempts, retry, timeout,
                                            headers, personal, tenant, expires, on_dead, batch);
        outcome := 'created';
        return next;
        return;
    end if;
    item.ordinal := 1;
    item.kind := enqueue.kind;
    item.payload := enqueue.payload;
    item.queue := enqueue.queue;
    item.key := enqueue.key;
    item.group := enqueue.group;
    item.run_at := enqueue.run_at;
    item.delay := enqueue.delay;
    item.priority := enqueue.priority;
    item.max_attempts := enqueue.max_attempts;
    item.retry := enqueue.retry;
    item.timeout := enqueue.timeout;
    item.headers := enqueue.headers;
    item.every := enqueue.every;
    item.zone := enqueue.zone;
    item.personal := enqueue.personal;
    item.tenant := enqueue.tenant;
    item.unique_while := enqueue.unique_while;
    item.unique_for := enqueue.unique_for;
    item.debounce := enqueue.debounce;
    item.debounce_max := enqueue.debounce_max;
    item.throttle := enqueue.throttle;
    item.expires := enqueue.expires;
    item.on_dead := enqueue.on_dead;
    item.batch := enqueue.batch;
    item.after := enqueue.after;
    item.after_failure := enqueue.after_failure;
    item.id := enqueue.as_id;
    return query
    select e.id, e.outcome, e.visible from minutehand.enqueue_all(array[item], enqueue.on_conflict) e;
end
$$;

-- Enqueues the rows that a COPY of this load wrote into `new_jobs`, by the rules of enqueue_all, and deletes
-- them there.
create or replace function minutehand.enqueue_incoming(this_load uuid, on_conflict text default 'replace')
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with gone as (
        delete from minutehand.new_jobs n where n.load = this_load returning n as item
    ), items as (
        select array_agg(item) as items from gone
    )
    select e.* from items, minutehand.enqueue_all(items.items, enqueue_incoming.on_conflict) e
$$;
