-- Enqueue anew: what a key keeps out and for how long, jobs that recur, and payloads that are personal.
--
--   put_all     writes items in one statement: the quick way, of nearly every job
--   put_keyed   writes one item whose key asks for more: to merge, or not to run too soon, twice, or beside another
--   uniques     the keys of `unique_for` and `throttle`, each until it is free again

-- Whose session this is: set_config('minutehand.tenant', ..., true) in a transaction says so; '' is nobody's.
create function minutehand.current_tenant() returns text
language sql stable parallel safe
as $$
    select coalesce(current_setting('minutehand.tenant', true), '')
$$;

-- The columns of the latter follow the attributes of the former: a row of the one is an item of the other.
alter type minutehand.new_job
    add attribute every text, add attribute zone text, add attribute nominal timestamptz, add attribute schedule text,
    add attribute personal boolean, add attribute tenant text,
    add attribute on_conflict text, add attribute unique_while text, add attribute unique_for interval,
    add attribute debounce interval, add attribute debounce_max interval, add attribute throttle interval,
    add attribute id uuid;  -- of a job without a key whose enqueuer must know it, to bind what it encrypts to it
alter table minutehand.incoming
    add column every text, add column zone text, add column nominal timestamptz, add column schedule text,
    add column personal boolean, add column tenant text,
    add column on_conflict text, add column unique_while text, add column unique_for interval,
    add column debounce interval, add column debounce_max interval, add column throttle interval, add column id uuid;

alter table minutehand.jobs add column latest timestamptz;  -- it was debounced, and is put off until then, not longer

-- For `unique_while`: a claimed job has left the index of upcoming ones.
create index jobs_live_claimed on minutehand.jobs_live (queue, key, tenant) where key is not null and claimed is not null;
create index uniques_until on minutehand.uniques (until);  -- for those that are over

-- What a queue's jobs get when neither their enqueuer nor their kind says.
create table minutehand.queue_defaults (
    queue        minutehand.queue primary key,
    priority     minutehand.priority,
    max_attempts minutehand.max_attempts,
    timeout      minutehand.timeout,
    retry        minutehand.retry
);

-- The text that a key of several parts is, the same as in Python: the parts joined by slashes, with those inside a
-- part written as %2F, so that no two lists of parts are one key.
--
--   select minutehand.enqueue('report', key => minutehand.key_of('customer', '4711'));
create function minutehand.key_of(variadic parts text[]) returns text
language plpgsql immutable parallel safe
as $$
begin
    if '' = any (parts) or array_position(parts, null) is not null then
        perform minutehand.refuse('key_fits', 'a part of a key is not empty');
    end if;
    return (select string_agg(replace(replace(part, '%', '%25'), '/', '%2F'), '/' order by n)
              from unnest(parts) with ordinality p (part, n));
end
$$;

-- Two payloads as one: arrays are joined, of objects the later field counts, and null is nothing. The values stay text.
create function minutehand.merged(old json, new json) returns json
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    types text := json_typeof(old) || ' ' || json_typeof(new);
    one   json;
    most integer := (select max_payload from minutehand.settings);
begin
    if (old -> 'minutehand' -> 'v') is not null or (new -> 'minutehand' -> 'v') is not null then
        perform minutehand.refuse('payloads_merge', 'payloads that are encrypted cannot be merged');
    end if;
    case
        when json_typeof(new) = 'null' then one := old;
        when json_typeof(old) = 'null' then one := new;
        when types = 'array array' then
            select '[' || coalesce(string_agg(value::text, ',' order by side, n), '') || ']' into one
              from (select 1 as side, value, n from json_array_elements(old) with ordinality e (value, n)
                    union all
                    select 2, value, n from json_array_elements(new) with ordinality e (value, n)) e;
        when types = 'object object' then
            select '{' || coalesce(string_agg(to_json(name) || ':' || value, ','), '') || '}' into one
              from (select distinct on (name) name, value
                      from (select 1 as side, name, value, n from json_each(old) with ordinality e (name, value, n)
                            union all
                            select 2, name, value, n from json_each(new) with ordinality e (name, value, n)) e
                     order by name, side desc, n desc) e;
        else perform minutehand.refuse('payloads_merge', 'merge joins two arrays or two objects');
    end case;
    if octet_length(one::text) > most then
        perform minutehand.refuse('payload_fits', format('payload has at most %s bytes', most));
    end if;
    return one;
exception
    -- To look into JSON is to unescape it, and \u0000 or half a surrogate pair is no text of Postgres's.
    when untranslatable_character or invalid_text_representation then
        perform minutehand.refuse('payloads_merge', 'payloads with \u0000 or half a surrogate pair in them cannot be merged');
end
$$;

-- Whether text looks like a recurrence, as far as SQL can tell: @daily and its like, five or six fields, or a duration.
create function minutehand.is_every(every text) returns boolean
language plpgsql immutable parallel safe
as $$
begin
    if every ~ '^P' then
        return every::interval > interval '0';
    end if;
    return every ~* '^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[0-9a-z*,/#?-]+( +[0-9a-z*,/#?-]+){4,5})$';
exception
    when data_exception then return false;
end
$$;

-- Whether there is a time zone of that name. An abbreviation is none: it does not know when clocks are changed.
create function minutehand.is_zone(zone text) returns boolean
language plpgsql stable parallel safe
as $$
begin
    return (zone ~ '^[A-Za-z_]+(/[A-Za-z0-9_+-]+)+$' or zone in ('UTC', 'GMT')) and now() at time zone zone is not null;
exception
    when data_exception then return false;
end
$$;

drop function minutehand.check_new(minutehand.new_job[], text);
-- Refuses what no column could: contradictions, and a payload over the limit. Says whether an item is for put_keyed.
-- With the rights and the search_path of enqueue_all, which calls it; put_all the same.
create function minutehand.check_new(items minutehand.new_job[], on_conflict text) returns boolean
language plpgsql stable
as $$
declare
    fault text;
    keyed boolean;
    most  integer := (select max_payload from minutehand.settings);
begin
    if on_conflict is null or on_conflict not in ('replace', 'ignore', 'raise', 'merge') then
        perform minutehand.refuse('on_conflict_is_known', 'on_conflict is replace, ignore, raise or merge');
    end if;
    select min(case when i.kind is null then 'kind_is_a_name'
                    when i.run_at is not null and i.delay is not null then 'run_at_or_delay'
                    when i.delay < interval '0' then 'delay_is_not_negative'
                    when octet_length(i.payload::text) > most then 'payload_fits'
                    when i.on_conflict not in ('replace', 'ignore', 'raise', 'merge') then 'on_conflict_is_known'
                    when i.every is not null or i.zone is not null then minutehand.fault_of_every(i, check_new.on_conflict)
                    when num_nonnulls(i.unique_while, i.unique_for, i.debounce, i.debounce_max, i.throttle) > 0
                    then minutehand.fault_of_key(i, check_new.on_conflict) end),
           bool_or(i.key is not null and (coalesce(i.on_conflict, check_new.on_conflict) = 'merge'
                   or i.on_conflict <> check_new.on_conflict or i.unique_while = 'running'
                   or i.unique_for is not null or i.throttle is not null))
      into fault, keyed
      from unnest(items) i;
    if fault is not null then
        perform minutehand.refuse(fault, case fault
            when 'kind_is_a_name' then 'kind is not null'
            when 'payload_fits' then format('payload has at most %s bytes', most)
            else minutehand.sentence(fault) end);
    end if;
    return coalesce(keyed, false);
end
$$;

-- What is wrong with what an item says of its key, if anything. In plpgsql, here and below, since an SQL function would
-- be a part of check_new's statement, and planned with it for every item that says nothing of the kind.
create function minutehand.fault_of_key(item minutehand.new_job, on_conflict text) returns text
language plpgsql immutable
as $$
begin
    return case
        when num_nonnulls(item.unique_while, item.unique_for, item.debounce, item.debounce_max, item.throttle) = 0 then null
        when item.key is null then 'key_is_said'
        when item.unique_while not in ('upcoming', 'running') then 'unique_while_is_known'
        when least(item.unique_for, item.debounce, item.throttle) <= interval '0' then 'period_is_positive'
        when item.debounce_max is not null and (item.debounce is null or item.debounce_max < item.debounce)
        then 'debounce_max_is_longer'
        when num_nonnulls(item.unique_for, item.debounce, item.throttle) > 1 then 'one_period'
        when item.debounce is not null and num_nonnulls(item.run_at, item.delay) > 0 then 'run_at_or_debounce'
        when item.debounce is not null and coalesce(item.on_conflict, fault_of_key.on_conflict) in ('ignore', 'raise')
        then 'debounce_moves' end;
end
$$;

-- What is wrong with an item that recurs, if anything. Cron's next moment is Python's to compute.
create function minutehand.fault_of_every(item minutehand.new_job, on_conflict text) returns text
language plpgsql stable
as $$
begin
    return case
        when item.every is null then 'zone_is_of_every'
        when not minutehand.is_every(item.every) then 'every_recurs'
        when item.zone is not null and not minutehand.is_zone(item.zone) then 'zone_is_known'
        when item.every !~ '^P' and item.run_at is null and item.delay is null then 'every_has_a_beginning'
        when num_nonnulls(item.debounce, item.throttle) > 0 then 'every_or_debounce'
        else minutehand.fault_of_key(item, fault_of_every.on_conflict) end;
end
$$;

create function minutehand.sentence(rule text) returns text
language sql immutable parallel safe
as $$
    select case rule
        when 'run_at_or_delay' then 'say run_at or delay, not both'
        when 'delay_is_not_negative' then 'delay is not negative'
        when 'on_conflict_is_known' then 'on_conflict is replace, ignore, raise or merge'
        when 'every_recurs' then 'every is a cron expression, @daily and its like, or an ISO 8601 duration'
        when 'zone_is_known' then 'zone is an IANA time zone, as Europe/Berlin'
        when 'zone_is_of_every' then 'zone is the time zone of every: say both, or give run_at its offset'
        when 'every_has_a_beginning' then 'a cron expression needs its first run_at here; Python and the command line compute it'
        when 'every_or_debounce' then 'say every, or debounce or throttle'
        when 'key_is_said' then 'unique_while, unique_for, debounce and throttle are about a key: say one'
        when 'unique_while_is_known' then 'unique_while is upcoming or running'
        when 'period_is_positive' then 'unique_for, debounce and throttle are above zero'
        when 'debounce_max_is_longer' then 'debounce_max goes with debounce, and is not shorter'
        when 'one_period' then 'say one of unique_for, debounce and throttle'
        when 'run_at_or_debounce' then 'say debounce, or run_at or delay'
        when 'debounce_moves' then 'debounce goes with on_conflict replace or merge'
        else replace(rule, '_', ' ') end
$$;

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

-- Writes jobs in one statement, by one on_conflict, for a session that is its `own` tenant's, if any; see enqueue_all
-- for what comes back.
create function minutehand.put_all(items minutehand.new_job[], on_conflict text, moment timestamptz, first bigint, own text)
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language plpgsql volatile
as $$
#variable_conflict use_column
begin
    return query
    with asked as materialized (
        select i.ordinal, coalesce(i.id, minutehand.uuid7()) as id,
               -- Cast here, so that an item that breaks a rule is refused even where another takes its place.
               coalesce(i.queue, d.queue, 'default')::minutehand.queue as queue, i.kind::minutehand.kind,
               i.key::minutehand.key, coalesce(i.payload, 'null') as payload, i.headers::minutehand.headers,
               (greatest(coalesce(i.run_at, moment + coalesce(i.delay, i.debounce), minutehand.first_of(i.every, i.zone, moment), moment),
                         moment)
                   + interval '1 microsecond' * (i.ordinal - first))::minutehand.moment as run_at,  -- first in, first out
               coalesce(i.priority, d.priority, q.priority, 5)::minutehand.priority as priority,
               coalesce(i.max_attempts, d.max_attempts, q.max_attempts, 8)::minutehand.max_attempts as max_attempts,
               coalesce(i.retry, d.retry, q.retry)::minutehand.retry as retry,
               coalesce(i.timeout, d.timeout, q.timeout)::minutehand.timeout as timeout,
               moment + i.debounce_max as latest, i.every, i.zone, i.schedule, coalesce(i.personal, false) as personal,
               case when i.every is not null
                    then coalesce(i.nominal, i.run_at, moment + i.delay, minutehand.first_of(i.every, i.zone, moment))
                    else i.nominal end as nominal,
               coalesce(nullif(own, ''), i.tenant, '')::minutehand.tenant as tenant
          from unnest(items) i
          left join minutehand.defaults d on d.kind = i.kind
          left join minutehand.queue_defaults q on q.queue = coalesce(i.queue, d.queue, 'default')
    ), keyed as materialized (
        -- Of the items that share a key the last one replaces the others, or the first one keeps them out.
        select distinct on (key, queue, tenant) *
          from asked
         where key is not null
         order by key, queue, tenant, case when put_all.on_conflict = 'replace' then -ordinal else ordinal end
    ), known as (
        insert into minutehand.lanes (queue, priority)  -- in order, so that two enqueuers do not wait for each other
        select distinct queue, priority from asked order by queue, priority
            on conflict do nothing
    ), written as (
        insert into minutehand.jobs_live as j
               (id, queue, kind, key, payload, headers, run_at, visible, priority, max_attempts, retry, timeout,
                latest, every, zone, nominal, schedule, personal, tenant)
        select id, queue, kind, key, payload, headers, run_at, run_at, priority, max_attempts, retry, timeout,
               latest, every, zone, nominal, schedule, personal, tenant
          from (select * from asked where key is null union all select * from keyed) chosen
            on conflict (queue, key, tenant) where key is not null and claimed is null
            do update set kind = excluded.kind, payload = excluded.payload, headers = excluded.headers,
                          -- Debounced, it is put off until `latest`. Then it stays where it is, and so does an offer
                          -- of it: or who enqueues without end would take back every one.
                          run_at = least(excluded.run_at, minutehand.kept_latest(j.attempts, j.latest, excluded.latest)),
                          visible = case when minutehand.kept_latest(j.attempts, j.latest, excluded.latest) <= clock_timestamp() then j.visible
                                         else least(excluded.run_at, minutehand.kept_latest(j.attempts, j.latest, excluded.latest)) end,
                          ack = case when minutehand.kept_latest(j.attempts, j.latest, excluded.latest) <= clock_timestamp() then j.ack end,
                          prior = case when minutehand.kept_latest(j.attempts, j.latest, excluded.latest) <= clock_timestamp() then j.prior end,
                          offered = case when minutehand.kept_latest(j.attempts, j.latest, excluded.latest) <= clock_timestamp() then j.offered end,
                          latest = coalesce(minutehand.kept_latest(j.attempts, j.latest, excluded.latest), excluded.latest),
                          priority = excluded.priority, max_attempts = excluded.max_attempts, retry = excluded.retry,
                          timeout = excluded.timeout, enqueued = clock_timestamp(), attempts = 0, error = null,
                          cancelled = false, cancelling = null, every = excluded.every, zone = excluded.zone,
                          nominal = excluded.nominal, schedule = excluded.schedule, personal = excluded.personal
             where put_all.on_conflict = 'replace'
               -- What would change nothing writes nothing, and the job's offer stays good.
               and (j.attempts > 0 or j.cancelling is not null
                    or (j.run_at, j.visible, j.kind, j.payload::text, j.headers, j.priority, j.max_attempts, j.retry, j.timeout,
                        j.latest, j.every, j.zone, j.nominal, j.schedule, j.personal)
                       is distinct from
                       (excluded.run_at, excluded.visible, excluded.kind, excluded.payload::text, excluded.headers, excluded.priority,
                        excluded.max_attempts, excluded.retry, excluded.timeout, excluded.latest, excluded.every,
                        excluded.zone, excluded.nominal, excluded.schedule, excluded.personal))
        returning j.id, j.queue, j.key, j.tenant, j.visible
    ), outcome as (
        select a.ordinal, a.id as born, a.key, a.run_at, w.id as kept, w.visible, k.id as won,
               case when a.key is not null and (w.id is null or k.id is null and put_all.on_conflict = 'raise')
                    then minutehand.upcoming(a.tenant, a.queue, a.key, put_all.on_conflict) end as stays
          from asked a
          left join (select * from written where key is not null) w on w.key = a.key and w.queue = a.queue and w.tenant = a.tenant
          left join keyed k on k.id = a.id
    )
    select o.ordinal,
           case when o.key is null then o.born else coalesce(o.kept, (o.stays).id) end,
           case when o.key is null or o.kept = o.born then 'created' when o.kept is not null and o.won is not null then 'replaced'
                else 'ignored' end,
           coalesce((o.stays).visible, o.visible, o.run_at)::timestamptz
      from outcome o
     order by o.ordinal;
end
$$;

-- Until when a debounced job that has not been begun is put off at most.
create function minutehand.kept_latest(attempts integer, latest timestamptz, anew timestamptz) returns timestamptz
language sql immutable
as $$
    select case when anew is not null and attempts = 0 then latest end
$$;

-- The first moment of a duration that recurs, by the clocks of its zone.
create function minutehand.first_of(every text, zone text, moment timestamptz) returns timestamptz
language sql stable
as $$
    select case when every ~ '^P'
                then (moment at time zone coalesce(zone, 'UTC') + every::interval) at time zone coalesce(zone, 'UTC') end
$$;

create function minutehand.nobody() returns uuid
language sql immutable parallel safe
as $$
    select uuid '00000000-0000-0000-0000-000000000000'
$$;

-- Who has a key for a period, or (`period` is null) for this transaction alone: its row is locked until the end of the
-- transaction, so that who comes at the same moment waits here. The job is nobody where it was free.
create function minutehand.reserve(item minutehand.new_job, period interval) returns minutehand.uniques
language sql volatile
as $$
    insert into minutehand.uniques as u (tenant, queue, key, until, job)
    values (item.tenant, item.queue, item.key, clock_timestamp() + coalesce(period, interval '0'), minutehand.nobody())
        on conflict (queue, key, tenant)
        do update set until = case when u.until > clock_timestamp() then u.until else clock_timestamp() + coalesce(period, interval '0') end,
                      job = case when u.until > clock_timestamp() then u.job else excluded.job end
    returning u.*
$$;

-- The job that keeps another of its key out: it runs, or it has the key for a period, whatever became of it. Volatile
-- on purpose: it must see what was claimed a moment ago.
create function minutehand.keeps_out(item minutehand.new_job, taken minutehand.uniques, out job uuid, out until timestamptz)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
begin
    if item.unique_for is not null and taken.job <> minutehand.nobody() then
        job := taken.job;
        until := taken.until;
    elsif item.unique_while = 'running' then
        select j.id, j.visible into job, until
          from minutehand.jobs_live j
         where j.tenant = item.tenant and j.queue = item.queue and j.key = item.key and j.claimed is not null
         limit 1;
    end if;
end
$$;

-- Puts an item's payload into an upcoming job, and moves that only if the item is debounced.
create function minutehand.merge_into(into_job uuid, item minutehand.new_job)
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language sql volatile
as $$
    with kept as (
        select j.id, minutehand.kept_latest(j.attempts, j.latest, clock_timestamp() + item.debounce_max) as latest
          from minutehand.jobs_live j
         where j.id = into_job
    ), moved as (
        select id, coalesce(latest, clock_timestamp() + item.debounce_max) as latest,
               case when latest > clock_timestamp() or latest is null then least(clock_timestamp() + item.debounce, latest) end as to_moment
          from kept
         where item.debounce is not null
    )
    update minutehand.jobs_live j
       set payload = minutehand.merged(j.payload, coalesce(item.payload, 'null')),
           personal = j.personal or coalesce(item.personal, false),
           enqueued = clock_timestamp(), attempts = 0, error = null,
           run_at = coalesce(to_moment, run_at), visible = coalesce(to_moment, j.visible),
           ack = case when to_moment is null then ack end, prior = case when to_moment is null then prior end,
           offered = case when to_moment is null then offered end, latest = coalesce(moved.latest, j.latest)
      from kept left join moved using (id)
     where j.id = kept.id
    returning item.ordinal, j.id, 'merged', j.visible::timestamptz
$$;

-- Writes one job whose key asks for more than a place among the upcoming ones; see enqueue_all for what comes back.
create function minutehand.put_keyed(item minutehand.new_job, on_conflict text, moment timestamptz, first bigint, own text)
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
#variable_conflict use_column
declare
    mode  text := coalesce(item.on_conflict, put_keyed.on_conflict);
    taken minutehand.uniques;
    other record;
    there minutehand.jobs_live;
    made  record;
    asked timestamptz := coalesce(item.run_at, moment + item.delay, moment);
begin
    select null::bigint as ordinal, null::uuid as id, null as outcome, null::timestamptz as visible into made;
    select coalesce(item.queue, d.queue, 'default'), coalesce(nullif(own, ''), item.tenant, '')
      into item.queue, item.tenant
      from (values (0)) one left join minutehand.defaults d on d.kind = item.kind;

    if item.unique_for is not null or item.throttle is not null then
        taken := minutehand.reserve(item, item.unique_for);
    end if;
    if item.throttle is not null then
        item.run_at := greatest(asked, taken.until);
        item.delay := null;
    end if;
    other := minutehand.keeps_out(item, taken);
    if other.job is null or exists (select from minutehand.jobs_live j
                                     where j.tenant = item.tenant and j.queue = item.queue and j.key = item.key and j.claimed is null) then
        -- Inserts the job, or locks the upcoming one of its key: no worker claims that before this transaction ends.
        select * into made from minutehand.put_all(array[item], 'ignore', moment, first, own);
        other := minutehand.keeps_out(item, taken);
    end if;

    if other.job is not null and made.outcome is distinct from 'ignored' then
        delete from minutehand.jobs_live j where j.id = made.id;  -- what kept it out began at this very moment
        delete from minutehand.uniques u
         where u.tenant = item.tenant and u.queue = item.queue and u.key = item.key and taken.job = minutehand.nobody();
        if mode = 'raise' then
            perform minutehand.refuse('key_is_free', format('queue %L has a job with key %L, and takes no other yet', item.queue, item.key), '23505');
        end if;
        return query select item.ordinal, other.job, 'ignored', other.until::timestamptz;
        return;
    end if;
    if made.outcome = 'ignored' then
        there := minutehand.upcoming(item.tenant, item.queue, item.key, mode);
        if mode = 'merge' then
            select * into made from minutehand.merge_into(there.id, item);
        elsif mode = 'replace' then
            if item.throttle is not null and there.attempts = 0 then
                item.run_at := greatest(asked, there.run_at);  -- it has its moment, and keeps it
            end if;
            select * into made from minutehand.put_all(array[item], 'replace', moment, first, own);
        end if;
    end if;
    update minutehand.uniques u
       set job = j.id, until = greatest(u.until, j.run_at + item.throttle)
      from minutehand.jobs_live j
     where taken.key is not null and j.id = made.id and u.tenant = item.tenant and u.queue = item.queue and u.key = item.key;
    return query select made.ordinal, made.id, made.outcome, made.visible;
end
$$;

-- Enqueues jobs. Says for each item, by its ordinal, what happened:
--   created    a new job
--   replaced   the upcoming job of that key is now this one; it keeps its id
--   merged     the upcoming job of that key has this one's payload, too
--   ignored    an upcoming job of that key stays (on_conflict = 'ignore', or this one is the very same), or a later
--              item of the same call replaces this one, or an earlier job keeps the key (unique_for, unique_while);
--              the id is of the job that stays, `visible` its moment, or when the key is free again
-- A moment in the past means now. With on_conflict = 'raise', a key that is taken, also by an earlier item, is
-- SQLSTATE 23505. An item's own on_conflict goes before that of the call.
create or replace function minutehand.enqueue_all(items minutehand.new_job[], on_conflict text default 'replace')
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
#variable_conflict use_column
declare
    moment timestamptz := clock_timestamp();
    first  bigint := items[1].ordinal;
    keyed  boolean := minutehand.check_new(items, enqueue_all.on_conflict);
    own    text := minutehand.check_tenants(items);  -- of 0013
    item   minutehand.new_job;
begin
    if not keyed then
        return query select * from minutehand.put_all(items, enqueue_all.on_conflict, moment, first, own);
        return;
    end if;
    return query select * from minutehand.put_all(array(select i from unnest(items) i where i.key is null), 'replace', moment, first, own);
    -- In the order of put_all, so that two enqueuers do not wait for each other.
    for item in select * from unnest(items) i where i.key is not null order by i.key, i.queue, i.tenant, i.ordinal loop
        return query select * from minutehand.put_keyed(item, enqueue_all.on_conflict, moment, first, own);
    end loop;
end
$$;

-- Enqueues one job, from any language and from triggers; see enqueue_all for what comes back. In plpgsql, which plans
-- its statement once a session, and not once a call.
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
    tenant       text        default null,
    unique_while text        default null,
    unique_for   interval    default null,
    debounce     interval    default null,
    debounce_max interval    default null,
    throttle     interval    default null,
    as_id        uuid        default null
) returns table (id uuid, outcome text, visible timestamptz)
language plpgsql volatile
as $$
#variable_conflict use_column
begin
    return query
    select e.id, e.outcome, e.visible
      from minutehand.enqueue_all(
           array[row(1, enqueue.kind, enqueue.payload, enqueue.queue, enqueue.key, enqueue.run_at, enqueue.delay, enqueue.priority,
                     enqueue.max_attempts, enqueue.retry, enqueue.timeout, enqueue.headers,
                     enqueue.every, enqueue.zone, null, null, enqueue.personal, enqueue.tenant, null, enqueue.unique_while,
                     enqueue.unique_for, enqueue.debounce, enqueue.debounce_max, enqueue.throttle, enqueue.as_id)::minutehand.new_job],
           enqueue.on_conflict) e;
end
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
                         every, zone, nominal, schedule, personal, tenant, on_conflict, unique_while, unique_for,
                         debounce, debounce_max, throttle, id)::minutehand.new_job) as items
          from gone
    )
    select e.* from items, minutehand.enqueue_all(items.items, enqueue_incoming.on_conflict) e
$$;

-- What only the functions above call, with their owner's rights, is nobody else's to call.
revoke execute on function minutehand.check_new(minutehand.new_job[], text), minutehand.merged(json, json),
                           minutehand.put_all(minutehand.new_job[], text, timestamptz, bigint, text),
                           minutehand.put_keyed(minutehand.new_job, text, timestamptz, bigint, text),
                           minutehand.reserve(minutehand.new_job, interval), minutehand.merge_into(uuid, minutehand.new_job),
                           minutehand.keeps_out(minutehand.new_job, minutehand.uniques) from public;
select minutehand.grant_roles();  -- for the functions that are new
