-- Put all: the statement that writes jobs with their defaults, replaces upcoming jobs with the same key, or leaves them.

-- Writes jobs in one statement with one on_conflict. `session_tenant` is the session's tenant, or ''. See enqueue_all for
-- the outcomes. A created job supersedes the running jobs of its key, unless the caller does that itself.
create or replace function minutehand.put_all(items minutehand.new_jobs[], on_conflict text, moment timestamptz, first bigint, session_tenant text,
                                              supersedes boolean default true)
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language plpgsql volatile
as $$
#variable_conflict use_column
begin
    return query
    with requested as materialized (
        select i.ordinal, coalesce(i.id, minutehand.uuid7()) as id,
               -- Cast here, so that an invalid item is refused even if another replaces it.
               coalesce(i.queue, d.queue, 'default')::minutehand.queue as queue, i.kind::minutehand.kind,
               i.key::minutehand.key, i.group::minutehand.job_group, coalesce(i.payload, 'null') as payload, i.headers::minutehand.headers,
               -- A microsecond apart: first in, first out.
               (greatest(coalesce(i.run_at, moment + coalesce(i.delay, i.debounce), minutehand.first_of(i.every, i.zone, moment), moment),
                         moment)
                   + interval '1 microsecond' * (i.ordinal - first))::minutehand.finite_time as run_at,
               coalesce(i.priority, d.priority, q.priority, 5)::minutehand.priority as priority,
               coalesce(i.max_attempts, d.max_attempts, q.max_attempts, 8)::minutehand.max_attempts as max_attempts,
               coalesce(i.retry, d.retry, q.retry)::minutehand.retry as retry,
               coalesce(i.timeout, d.timeout, q.timeout)::minutehand.timeout as timeout,
               i.expires::minutehand.expires as expires,
               -- JSON null is none, not even the default.
               nullif(coalesce(i.on_dead, d.on_dead, q.on_dead)::text, 'null')::minutehand.on_dead as on_dead, i.batch,
               i.after, case when i.after is not null then coalesce(i.after_failure, 'cancel') end as after_failure,
               moment + i.debounce_max as latest, i.every, i.zone, i.schedule, coalesce(i.personal, false) as personal,
               case when i.every is not null
                    then coalesce(i.nominal, i.run_at, moment + i.delay, minutehand.first_of(i.every, i.zone, moment))
                    else i.nominal end as nominal,
               coalesce(nullif(session_tenant, ''), i.tenant, '')::minutehand.tenant as tenant,
               case when i.key is not null then minutehand.session_role() end as enqueued_by
          from unnest(items) i
          left join minutehand.defaults d on d.kind = i.kind
          left join minutehand.queue_defaults q on q.queue = coalesce(i.queue, d.queue, 'default')
    ), keyed as materialized (
        -- Of the items that share a key, the last one replaces the others, or the first one excludes them.
        select distinct on (key, queue, tenant) *
          from requested
         where key is not null
         order by key, queue, tenant, case when put_all.on_conflict = 'replace' then -ordinal else ordinal end
    ), written as (
        insert into minutehand.jobs_live as j
               (id, queue, kind, key, "group", payload, headers, run_at, visible, priority, max_attempts, retry, timeout,
                latest, every, zone, nominal, schedule, personal, tenant, expires, on_dead, batch, after, after_failure, enqueued_by)
        select id, queue, kind, key, "group", payload, headers, run_at, run_at, priority, max_attempts, retry, timeout,
               latest, every, zone, nominal, schedule, personal, tenant, expires, on_dead, batch, after, after_failure, enqueued_by
          from (select * from requested where key is null union all select * from keyed) chosen
            on conflict (queue, key, tenant) where key is not null and claimed is null
            do update set kind = excluded.kind, "group" = excluded.group, payload = excluded.payload, headers = excluded.headers,
                          -- A debounced job is postponed until `latest` at most. After that it stays where it is,
                          -- and so does its offer; otherwise endless enqueues would withdraw every offer.
                          run_at = least(excluded.run_at, minutehand.kept_latest(j, moment, excluded.latest)),
                          visible = case when minutehand.kept_latest(j, moment, excluded.latest) <= clock_timestamp()
                                         then case when (j.kind, j.group) is not distinct from (excluded.kind, excluded.group)
                                                   then j.visible else clock_timestamp() end
                                         else least(excluded.run_at, minutehand.kept_latest(j, moment, excluded.latest)) end,
                          ack = case when minutehand.kept_latest(j, moment, excluded.latest) <= clock_timestamp()
                                     and (j.kind, j.group) is not distinct from (excluded.kind, excluded.group) then j.ack end,
                          prior = case when minutehand.kept_latest(j, moment, excluded.latest) <= clock_timestamp()
                                     and (j.kind, j.group) is not distinct from (excluded.kind, excluded.group) then j.prior end,
                          offered = case when minutehand.kept_latest(j, moment, excluded.latest) <= clock_timestamp()
                                     and (j.kind, j.group) is not distinct from (excluded.kind, excluded.group) then j.offered end,
                          latest = coalesce(minutehand.kept_latest(j, moment, excluded.latest), excluded.latest),
                          priority = excluded.priority, max_attempts = excluded.max_attempts, retry = excluded.retry,
                          timeout = excluded.timeout, enqueued = clock_timestamp(), attempts = 0, error = null, result = null,
                          cancelled = false, cancelling = null, every = excluded.every, zone = excluded.zone,
                          nominal = excluded.nominal, schedule = excluded.schedule, personal = excluded.personal,
                          expires = excluded.expires, on_dead = excluded.on_dead, enqueued_by = excluded.enqueued_by
             -- A job that has expired no longer holds its key.
             where (put_all.on_conflict = 'replace' or j.attempts = 0 and minutehand.expires_at(j.run_at, j.expires) <= moment)
               -- An identical item writes nothing, and the job's offer stays valid.
               and (j.attempts > 0 or j.cancelling is not null
                    or (j.run_at, j.visible, j.kind, j.group, j.payload::text, minutehand.without_trace(j.headers), j.priority, j.max_attempts, j.retry, j.timeout,
                        j.latest, j.every, j.zone, j.nominal, j.schedule, j.personal, j.expires, j.on_dead::text)
                       is distinct from
                       (excluded.run_at, excluded.visible, excluded.kind, excluded.group, excluded.payload::text, minutehand.without_trace(excluded.headers), excluded.priority,
                        excluded.max_attempts, excluded.retry, excluded.timeout, excluded.latest, excluded.every,
                        excluded.zone, excluded.nominal, excluded.schedule, excluded.personal, excluded.expires, excluded.on_dead::text))
        returning j.id, j.queue, j.key, j.tenant, j.visible, j.batch, j.after
    ), added as materialized (
        select minutehand.add_to_batches(array_agg(batch), array_agg(id), array_agg(tenant::text), session_tenant) as yes
          from written where batch is not null having count(*) > 0
    ), waiting as materialized (
        select minutehand.await_predecessors(array_agg(id), session_tenant) as yes from written where after is not null having count(*) > 0
    ), outcome as (
        select a.ordinal, a.id as new_id, a.key, a.run_at, w.id as written_id, w.visible, k.id as chosen_id,
               case when a.key is not null and (w.id is null or k.id is null and put_all.on_conflict = 'raise')
                    then minutehand.upcoming(a.tenant, a.queue, a.key, put_all.on_conflict) end as upcoming,
               case when a.key is not null and w.id = a.id and supersedes
                    then minutehand.supersede_running(a.id, a.tenant, a.queue, a.key) end as superseded
          from requested a
          left join (select * from written where key is not null) w on w.key = a.key and w.queue = a.queue and w.tenant = a.tenant
          left join keyed k on k.id = a.id
    )
    select o.ordinal,
           case when o.key is null then o.new_id else coalesce(o.written_id, (o.upcoming).id) end,
           case when o.key is null or o.written_id = o.new_id then 'created' when o.written_id is not null and o.chosen_id is not null then 'replaced'
                else 'ignored' end,
           coalesce((o.upcoming).visible, o.visible, o.run_at)::timestamptz
      from outcome o
     where (select count(*) from added) + (select count(*) from waiting) >= 0
     order by o.ordinal;
end
$$;

-- Returns the first time of a recurring duration: its days and longer units by the clocks of its zone, its hours and shorter
-- ones as elapsed time, as in minutehand/model/recurrence.py.
create or replace function minutehand.first_of(every text, zone text, moment timestamptz) returns timestamptz
language sql stable
as $$
    select case when every ~ '^PT' then moment + every::interval
                when every ~ '^P'
                then minutehand.moment_of((moment at time zone coalesce(zone, 'UTC')) + split_part(every, 'T', 1)::interval,
                                          coalesce(zone, 'UTC'))
                     + ('PT' || coalesce(nullif(split_part(every, 'T', 2), ''), '0S'))::interval end
$$;

-- Returns the time at which the clocks of a zone show `wall`: the first of two, and the end of the gap if there is none.
create or replace function minutehand.moment_of(wall timestamp, zone text) returns timestamptz
language plpgsql stable
as $$
declare
    -- Postgres takes the later one of two; in a gap, it counts on from the clock before the gap.
    moment  timestamptz := wall at time zone zone;
    earlier timestamptz := moment - ((moment - interval '24 hours') at time zone zone - (moment at time zone zone) + interval '24 hours');
    middle  timestamptz;
    ahead   interval;
begin
    if moment at time zone zone = wall then
        return case when earlier < moment and earlier at time zone zone = wall then earlier else moment end;
    end if;
    earlier := date_trunc('second', moment - (moment at time zone zone - wall));
    moment := date_trunc('second', moment);
    ahead := earlier at time zone zone - earlier at time zone 'UTC';
    while moment - earlier > interval '1 second' loop
        middle := date_trunc('second', earlier + (moment - earlier) / 2);
        if middle at time zone zone - middle at time zone 'UTC' = ahead then
            earlier := middle;
        else
            moment := middle;
        end if;
    end loop;
    return moment;
end
$$;
