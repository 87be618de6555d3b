-- Enqueue anew: keys by tenant, jobs that recur, and payloads that are personal.

-- Whose session this is: set_config('minutehand.tenant', ..., true) in a transaction says so; '' is nobody's.
create function minutehand.current_tenant() returns text
language sql stable parallel safe
as $$
    select coalesce(current_setting('minutehand.tenant', true), '')
$$;

alter type minutehand.new_job
    add attribute every text, add attribute zone text, add attribute nominal timestamptz, add attribute schedule text,
    add attribute personal boolean, add attribute tenant text;
alter table minutehand.incoming
    add column every text, add column zone text, add column nominal timestamptz, add column schedule text,
    add column personal boolean, add column tenant text;

drop function minutehand.upcoming(text, text, text);
-- A key's upcoming job, or an error where the enqueuer asked for one. Volatile on purpose: it must see what was
-- committed a moment ago.
create function minutehand.upcoming(of_tenant text, in_queue text, with_key text, on_conflict text) returns minutehand.jobs_live
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    job minutehand.jobs_live;
begin
    if on_conflict = 'raise' then
        perform minutehand.refuse('key_is_free', format('queue %L has an upcoming job with key %L', in_queue, with_key), '23505');
    end if;
    select j.* into job
      from minutehand.jobs_live j
     where j.tenant = of_tenant and j.queue = in_queue and j.key = with_key and j.claimed is null;
    return job;
end
$$;

revoke execute on function minutehand.upcoming(text, text, text, text) from public;

-- Enqueues jobs in one statement. Says for each item, by its ordinal, what happened:
--   created    a new job
--   replaced   the upcoming job of that key is now this one; it keeps its id
--   ignored    an upcoming job of that key stays (on_conflict = 'ignore'), or a later item of the same call
--              replaces this one; the id is of the job that stays
-- A moment in the past means now. With on_conflict = 'raise', an upcoming job of that key, or an earlier item with
-- it, is SQLSTATE 23505.
create or replace function minutehand.enqueue_all(items minutehand.new_job[], on_conflict text default 'replace')
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
#variable_conflict use_column
declare
    moment timestamptz := clock_timestamp();
    first  bigint := items[1].ordinal;
begin
    perform minutehand.check_new(items, enqueue_all.on_conflict);

    return query
    with asked as materialized (
        select i.ordinal, minutehand.uuid7() as id,
               -- Cast here, so that an item that breaks a rule is refused even where another takes its place.
               coalesce(i.queue, d.queue, 'default')::minutehand.queue as queue, i.kind::minutehand.kind,
               i.key::minutehand.key, coalesce(i.payload, 'null') as payload, i.headers::minutehand.headers,
               (greatest(coalesce(i.run_at, moment + coalesce(i.delay, interval '0')), moment)
                   + interval '1 microsecond' * (i.ordinal - first))::minutehand.moment as run_at,  -- first in, first out
               coalesce(i.priority, d.priority, 5)::minutehand.priority as priority,
               coalesce(i.max_attempts, d.max_attempts, 8)::minutehand.max_attempts as max_attempts,
               coalesce(i.retry, d.retry)::minutehand.retry as retry,
               coalesce(i.timeout, d.timeout)::minutehand.timeout as timeout,
               i.every, i.zone, i.nominal, i.schedule, coalesce(i.personal, false) as personal,
               coalesce(nullif(minutehand.current_tenant(), ''), i.tenant, '')::minutehand.tenant as tenant
          from unnest(items) i
          left join minutehand.defaults d on d.kind = i.kind
    ), keyed as materialized (
        -- Of the items that share a key the last one replaces the others, or the first one keeps them out.
        select distinct on (tenant, queue, key) *
          from asked
         where key is not null
         order by tenant, queue, key, case when enqueue_all.on_conflict = 'replace' then -ordinal else ordinal end
    ), known as (
        insert into minutehand.lanes (queue, priority)  -- in order, so that two enqueuers do not wait for each other
        select distinct queue, priority from asked order by queue, priority
            on conflict do nothing
    ), written as (
        insert into minutehand.jobs_live as j
               (id, queue, kind, key, payload, headers, run_at, visible, priority, max_attempts, retry, timeout,
                every, zone, nominal, schedule, personal, tenant)
        select id, queue, kind, key, payload, headers, run_at, run_at, priority, max_attempts, retry, timeout,
               every, zone, nominal, schedule, personal, tenant
          from (select * from asked where key is null union all select * from keyed) chosen
            on conflict (queue, key, tenant) where key is not null and claimed is null
            do update set kind = excluded.kind, payload = excluded.payload, headers = excluded.headers,
                          run_at = excluded.run_at, visible = excluded.visible, priority = excluded.priority,
                          max_attempts = excluded.max_attempts, retry = excluded.retry, timeout = excluded.timeout,
                          enqueued = clock_timestamp(), ack = null, prior = null, offered = null, attempts = 0,
                          error = null, cancelled = false,
                          every = excluded.every, zone = excluded.zone, nominal = excluded.nominal,
                          schedule = excluded.schedule, personal = excluded.personal, cancelling = null
             where enqueue_all.on_conflict = 'replace'
        returning j.id, j.queue, j.key, j.tenant
    ), outcome as (
        select a.ordinal, a.id as born, a.key, a.run_at, w.id as kept, k.id as won,
               case when a.key is not null and (w.id is null or k.id is null and enqueue_all.on_conflict = 'raise')
                    then minutehand.upcoming(a.tenant, a.queue, a.key, enqueue_all.on_conflict) end as stays
          from asked a
          left join (select * from written where key is not null) w on w.key = a.key and w.queue = a.queue and w.tenant = a.tenant
          left join keyed k on k.id = a.id
    )
    select o.ordinal,
           case when o.key is null then o.born else coalesce(o.kept, (o.stays).id) end,
           case when o.key is null or o.kept = o.born then 'created' when o.kept is not null and o.won is not null then 'replaced'
                else 'ignored' end,
           coalesce((o.stays).visible, o.run_at)::timestamptz
      from outcome o
     order by o.ordinal;
end
$$;

-- Enqueues one job, from any language and from triggers; see enqueue_all for what comes back.
--
--   select * from minutehand.enqueue('welcome', '{"email": "ada@example.com"}', delay => '3 days');
drop function minutehand.enqueue(text, json, text, text, timestamptz, interval, integer, integer, jsonb, interval, jsonb, text);
create function minutehand.enqueue(
    kind         text,
    payload      json        default 'null',
    queue        text        default null,
    key          text        default null,
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
    tenant       text        default null
) returns table (id uuid, outcome text, visible timestamptz)
language sql volatile
as $$
    select e.id, e.outcome, e.visible
      from minutehand.enqueue_all(
           array[row(1, enqueue.kind, enqueue.payload, enqueue.queue, enqueue.key, enqueue.run_at, enqueue.delay, enqueue.priority,
                     enqueue.max_attempts, enqueue.retry, enqueue.timeout, enqueue.headers,
                     enqueue.every, enqueue.zone, null, null, enqueue.personal, enqueue.tenant)::minutehand.new_job],
           enqueue.on_conflict) e
$$;

-- Enqueues what a COPY of this load has brought, by the rules of enqueue_all, and clears it away.
create or replace function minutehand.enqueue_incoming(this_load uuid, on_conflict text default 'replace')
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with gone as (
        delete from minutehand.incoming where load = this_load returning *
    ), items as (
        select array_agg(row(ordinal, kind, payload, queue, key, run_at, delay, priority, max_attempts, retry, timeout, headers,
                         every, zone, nominal, schedule, personal, tenant)
                         ::minutehand.new_job) as items
          from gone
    )
    select e.* from items, minutehand.enqueue_all(items.items, enqueue_incoming.on_conflict) e
$$;

select minutehand.grant_roles();  -- for the functions that are new
