-- Rules: what enqueue refuses, and the sentences of its errors.
-- The same sentences are in minutehand/model/rules.py; a test compares them.

-- Raises an error as a CHECK constraint would: SQLSTATE 23514 and the name of the rule.
create or replace function minutehand.refuse(rule text, sentence text default null, code text default '23514') returns void
language plpgsql
as $$
begin
    raise exception using errcode = code, constraint = rule, message = coalesce(sentence, minutehand.sentence(rule)),
        schema = 'minutehand', table = 'jobs';
end
$$;

-- Returns the sentence of a rule: what a value must be, or what to change.
create or replace function minutehand.sentence(rule text) returns text
language sql immutable parallel safe
as $$
    select case rule
        when 'run_at_or_delay' then 'expected run_at or delay, got both'
        when 'delay_is_not_negative' then 'delay must not be negative'
        when 'on_conflict_is_known' then 'on_conflict must be replace, ignore, raise or merge'
        when 'every_recurs' then
            'every must be a cron expression of 5 or 6 fields, @hourly, @daily, @weekly, @monthly,'
            ' @yearly, or an ISO 8601 duration such as P1D or PT15M'
        when 'every_fits' then 'every must have at most 200 characters'
        when 'zone_is_known' then 'zone must be an IANA time zone such as Europe/Berlin, or UTC'
        when 'zone_is_of_every' then 'zone requires every; without every, give run_at a UTC offset'
        when 'every_has_a_beginning' then
            'in SQL, a cron expression requires run_at; Python and the command line compute it'
        when 'every_or_debounce' then 'every must not be combined with debounce or throttle'
        when 'key_is_set' then 'unique_while, unique_for, debounce and throttle require a key'
        when 'unique_while_is_known' then 'unique_while must be upcoming or running'
        when 'period_is_positive' then 'unique_for, debounce and throttle must be durations above zero'
        when 'debounce_max_is_longer' then
            'debounce_max requires debounce, and must not be shorter than it'
        when 'batch_or_key' then 'a job of a batch must have no key and no every'
        when 'batch_is_shallow' then 'a batch must be nested in at most nine others'
        when 'after_fits' then 'after must have 1 to 100 ids of jobs'
        when 'after_or_key' then 'a job with after must have no key and no every'
        when 'after_failure_is_known' then 'after_failure must be cancel, run or wait, and requires after'
        when 'one_period' then 'expected at most one of unique_for, debounce and throttle'
        when 'run_at_or_debounce' then 'debounce must not be combined with run_at or delay'
        when 'debounce_moves' then 'debounce requires on_conflict to be replace or merge'
        when 'tenant_is_a_name' then
            'tenant must be 1 to 100 letters, digits, dots, dashes, underscores, colons and @,'
            ' starting with a letter or digit'
        when 'tenant_is_own' then 'a session of a tenant must enqueue only for that tenant'
        when 'tenant_is_set' then 'this role must set a tenant: call minutehand.as_tenant first'
        else replace(rule, '_', ' ') end
$$;

-- Whether a text looks like a recurrence, as far as SQL can tell: @daily and the like, five or six cron
-- fields, or a duration of whole days. Postgres reads more than Python does, such as P1 and P1.5M.
create or replace function minutehand.is_every(every text) returns boolean
language plpgsql immutable parallel safe
as $$
begin
    if every ~ '^P' then
        return every ~ '^P(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(\d+([.]\d+)?H)?(\d+([.]\d+)?M)?(\d+([.]\d+)?S)?)?$'
               and every::interval >= interval '1 second';
    end if;
    return every ~* '^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[0-9a-z*,/#?-]+( +[0-9a-z*,/#?-]+){4,5})$';
exception
    when data_exception then return false;
end
$$;

-- Whether there is a time zone of that name: Area/Location, UTC or GMT, as in Python. Abbreviations are excluded,
-- which have no daylight saving rules, and files of the operating system, such as posix/Europe/Berlin.
create or replace function minutehand.is_zone(zone text) returns boolean
language plpgsql stable parallel safe
as $$
begin
    return zone ~ '^(UTC|GMT|[A-Z][A-Za-z_]*(/[A-Za-z0-9_+-]+)+)$' and now() at time zone zone is not null;
exception
    when data_exception then return false;
end
$$;

-- Returns a payload, or raises an error if it is too large.
create or replace function minutehand.fitting(payload json) returns json
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    max_bytes integer := (select max_payload from minutehand.settings);
begin
    if octet_length(payload::text) > max_bytes then
        perform minutehand.too_large('payload', octet_length(payload::text), max_bytes, 'bytes');
    end if;
    return payload;
end
$$;

-- Refuses what no domain can check: contradictions, and payloads over the limit. Returns whether an item is
-- for put_keyed.
-- Runs with the rights and the search_path of enqueue_all, which calls it; put_all does the same.
create or replace function minutehand.check_new(items minutehand.new_jobs[], on_conflict text) returns boolean
language plpgsql stable
as $$
declare
    fault text;
    keyed boolean;
    max_bytes integer := (select max_payload from minutehand.settings);
begin
    if on_conflict is null or on_conflict not in ('replace', 'ignore', 'raise', 'merge') then
        perform minutehand.refuse('on_conflict_is_known');
    end if;
    select min(case when i.kind is null then 'kind_is_a_name'
                    when i.run_at is not null and i.delay is not null then 'run_at_or_delay'
                    when i.delay < interval '0' then 'delay_is_not_negative'
                    when octet_length(i.payload::text) > max_bytes then 'payload_fits'
                    when i.on_conflict not in ('replace', 'ignore', 'raise', 'merge') then 'on_conflict_is_known'
                    when i.batch is not null and num_nonnulls(i.key, i.every) > 0 then 'batch_or_key'
                    when i.after is not null and num_nonnulls(i.key, i.every) > 0 then 'after_or_key'
                    when i.after is not null and cardinality(i.after) not between 1 and 100 then 'after_fits'
                    when i.after_failure is not null and (i.after is null or i.after_failure not in ('cancel', 'run', 'wait'))
                    then 'after_failure_is_known'
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
            when 'kind_is_a_name' then 'kind must not be null'
            when 'payload_fits' then format('payload must have at most %s bytes, got %s', max_bytes,
                                            (select max(octet_length(i.payload::text)) from unnest(items) i))
            when 'every_fits' then format('%s, got %s', minutehand.sentence(fault), (select max(length(i.every)) from unnest(items) i))
            else minutehand.sentence(fault) end);
    end if;
    return coalesce(keyed, false);
end
$$;

-- Returns the rule that an item's key options break, or null.
-- In plpgsql, as is fault_of_every: an SQL function would be inlined into check_new's statement and planned
-- with it for every item that has no such options.
create or replace function minutehand.fault_of_key(item minutehand.new_jobs, on_conflict text) returns text
language plpgsql immutable
as $$
begin
    return case
        when num_nonnulls(item.unique_while, item.unique_for, item.debounce, item.debounce_max, item.throttle) = 0 then null
        when item.key is null then 'key_is_set'
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

-- Returns the rule that a recurring item breaks, or null. SQL cannot compute a cron expression's next time;
-- Python does.
create or replace function minutehand.fault_of_every(item minutehand.new_jobs, on_conflict text) returns text
language plpgsql stable
as $$
begin
    return case
        when item.every is null then 'zone_is_of_every'
        when length(item.every) > 200 then 'every_fits'
        when not minutehand.is_every(item.every) then 'every_recurs'
        when item.zone is not null and not minutehand.is_zone(item.zone) then 'zone_is_known'
        when item.every !~ '^P' and item.run_at is null and item.delay is null then 'every_has_a_beginning'
        when num_nonnulls(item.debounce, item.throttle) > 0 then 'every_or_debounce'
        else minutehand.fault_of_key(item, fault_of_every.on_conflict) end;
end
$$;

-- Refuses jobs that the session may not enqueue: for another tenant than its own, or for no tenant as a
-- tenant's role. Returns the session's tenant. Only enqueue_all calls it, with its rights.
create or replace function minutehand.check_tenants(items minutehand.new_jobs[]) returns text
language plpgsql stable
as $$
declare
    session_tenant text := minutehand.current_tenant();
begin
    if session_tenant = '-' then
        perform minutehand.refuse('tenant_is_set');
    elsif session_tenant <> '' and exists (select from unnest(items) i where i.tenant <> session_tenant) then
        perform minutehand.refuse('tenant_is_own');
    end if;
    return session_tenant;
end
$$;
