-- Functions that domains, column defaults and row-level security use.
-- Applied before the migrations, like triggers.sql: nothing here may name one of minutehand's types.

-- Returns a version 7 UUID (RFC 9562): 48 bits of milliseconds, 12 bits of their fraction, then random bits,
-- so that ids sort by creation time. Postgres has its own from version 18; this one runs on every supported
-- server.
-- It reads the clock once per id. With two reads, a millisecond that ended between them produced an id that
-- sorted before the others of that millisecond.
create or replace function minutehand.uuid7() returns uuid
language plpgsql volatile parallel safe
as $$
declare
    moment bigint := extract(epoch from clock_timestamp()) * 1000000;
begin
    return encode(overlay(
        uuid_send(gen_random_uuid())
        placing int8send(moment / 1000 << 16 | (x'7000'::bigint + moment % 1000 * 4096 / 1000)) from 1 for 8), 'hex')::uuid;
end
$$;

-- Raises the error of a value that is too large. A domain calls it only then, so that its check costs little otherwise.
create or replace function minutehand.too_large(field text, size bigint, max_size bigint, unit text default 'characters') returns boolean
language plpgsql immutable parallel safe strict
as $$
begin
    raise exception using errcode = '23514', constraint = field || '_fits', schema = 'minutehand',
        message = format('%s must have at most %s %s, got %s', field, max_size, unit, size);
end
$$;

-- Whether a retry strategy has only known fields, each with the right type and range. Times are in seconds.
-- In plpgsql, as are the functions below: an SQL function would be parsed again by every statement that writes
-- a row.
create or replace function minutehand.is_retry(retry jsonb) returns boolean
language plpgsql immutable parallel safe
as $$
begin
    return coalesce(
        jsonb_typeof(retry) = 'object' and octet_length(retry::text) <= 1000
        and retry - '{strategy,min,max,factor,jitter}'::text[] = '{}'
        and retry ->> 'strategy' in ('fixed', 'linear', 'exponential')
        and jsonb_typeof(retry -> 'min') = 'number' and (retry ->> 'min')::numeric between 0 and 31536000
        and jsonb_typeof(retry -> 'max') = 'number'
        and (retry ->> 'max')::numeric between (retry ->> 'min')::numeric and 31536000
        and jsonb_typeof(retry -> 'factor') = 'number' and (retry ->> 'factor')::numeric between 0 and 1000
        and jsonb_typeof(retry -> 'jitter') = 'boolean', false);
end
$$;

-- The headers without those of a trace, which differ each time an otherwise identical job is enqueued.
create or replace function minutehand.without_trace(headers jsonb) returns jsonb
language sql immutable parallel safe
as $$
    select nullif(headers - '{traceparent,tracestate,baggage,correlation-id}'::text[], '{}')
$$;

-- Whether headers are an object of strings with at most 8 KiB in total.
create or replace function minutehand.is_headers(headers jsonb) returns boolean
language plpgsql immutable parallel safe
as $$
begin
    return coalesce(
        jsonb_typeof(headers) = 'object'
        and octet_length(headers::text) <= 8192
        and not jsonb_path_exists(headers, '$.* ? (@.type() != "string")'), false);
end
$$;

-- Whether this is the job of `on_dead`: a kind and options of known types and ranges, with at most 8 KiB. It may have an
-- `on_dead` of its own, up to three levels.
create or replace function minutehand.is_on_dead(on_dead json, level integer default 1) returns boolean
language plpgsql immutable parallel safe
as $$
begin
    return coalesce(
        json_typeof(on_dead) = 'object' and level <= 3 and octet_length(on_dead::text) <= 8192
        and not exists (select from json_object_keys(on_dead) name
                         where name <> all ('{kind,payload,queue,priority,max_attempts,retry,timeout,headers,expires,on_dead}'))
        and json_typeof(on_dead -> 'kind') = 'string' and length(on_dead ->> 'kind') <= 100
        and on_dead ->> 'kind' ~ '^[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*$'
        and coalesce(json_typeof(on_dead -> 'payload'), 'null') in ('object', 'null')
        and length(coalesce(on_dead ->> 'queue', 'default')) <= 100
        and coalesce(on_dead ->> 'queue', 'default') ~ '^[A-Za-z0-9][A-Za-z0-9_.-]*$'
        and coalesce((on_dead ->> 'priority')::integer, 5) between 0 and 9
        and coalesce((on_dead ->> 'max_attempts')::integer, 8) between 1 and 1000000
        and (on_dead ->> 'retry' is null or minutehand.is_retry((on_dead -> 'retry')::jsonb))
        and (on_dead ->> 'headers' is null or minutehand.is_headers((on_dead -> 'headers')::jsonb))
        -- Seconds, so that Python reads the same duration.
        and coalesce(on_dead ->> 'timeout', '1 s') ~ '^[0-9]+([.][0-9]+)?( s)?$'
        and coalesce(on_dead ->> 'expires', '1 s') ~ '^[0-9]+([.][0-9]+)?( s)?$'
        and coalesce((on_dead ->> 'timeout')::interval, '1 s') between interval '1 microsecond' and interval '24 hours'
        and coalesce((on_dead ->> 'expires')::interval, '1 s') between interval '1 microsecond' and interval '3650 days'
        and (on_dead ->> 'on_dead' is null or minutehand.is_on_dead(on_dead -> 'on_dead', level + 1)), false);
exception
    when data_exception then return false;
end
$$;

-- Returns when a job that has not started expires. The sum does not depend on the session's time zone, so that it can be indexed. The
-- index has its text and not its name, so that writers need no right to call it.
create or replace function minutehand.expires_at(run_at timestamptz, expires interval) returns timestamptz
language sql immutable parallel safe
as $$
    select ((run_at at time zone 'UTC') + expires) at time zone 'UTC'
$$;

-- Returns the role that the session acts as, even inside a security definer function.
create or replace function minutehand.session_role() returns name
language plpgsql stable parallel safe
as $$
begin
    return coalesce(nullif(current_setting('role'), 'none'), session_user);
end
$$;

-- Returns the session's tenant: the tenant that its role is bound to, else the one set with
-- set_config('minutehand.tenant', ..., true); '' means no tenant, and no restriction.
-- A bound login stays bound when it sets another role. A session with a tenant's role that has set no tenant
-- gets '-', which cannot be a tenant's name, so that it matches no rows.
create or replace function minutehand.current_tenant() returns text
language plpgsql stable parallel safe security definer set search_path = minutehand, pg_temp
as $$
declare
    -- As session_role(). Every enqueue pays for this function.
    acts name := coalesce(nullif(current_setting('role'), 'none'), session_user);
    own  text := coalesce(current_setting('minutehand.tenant', true), '');
begin
    -- Nearly every database has none, and this is found out in half the time.
    if exists (select from minutehand.tenant_roles) then
        own := coalesce((select t.tenant from minutehand.tenant_roles t
                          where t.role in (session_user, acts)
                          order by t.role = session_user desc limit 1), own);
    end if;
    -- pg_has_role returns null if there is no such role.
    if own = '' and pg_has_role(acts, to_regrole('minutehand_tenant'), 'usage')
       and not (coalesce(pg_has_role(acts, to_regrole('minutehand_enqueuer'), 'usage'), false)
                or coalesce(pg_has_role(acts, to_regrole('minutehand_worker'), 'usage'), false)
                or coalesce(pg_has_role(acts, to_regrole('minutehand_operator'), 'usage'), false)) then
        return '-';
    end if;
    return own;
end
$$;

-- Returns the tenant whose rows the session may change: '' means all, '-' none. Unlike current_tenant(), '' requires a role
-- that the policies do not confine: a login of a tenant's role that also enqueues for all tenants has '-'.
-- Functions that run with the rights of their owner check it, because no policy applies to them.
create or replace function minutehand.tenant_scope() returns text
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    acts  name := minutehand.session_role();
    scope text := minutehand.current_tenant();
begin
    -- Here, current_user is the owner of the schema.
    if scope = '' and not (pg_has_role(acts, current_user, 'usage')
                           or coalesce(pg_has_role(acts, to_regrole('minutehand_operator'), 'usage'), false)
                           or coalesce(pg_has_role(acts, to_regrole('minutehand_worker'), 'usage'), false)) then
        return '-';
    end if;
    return scope;
end
$$;

-- Returns the tenant whose rows a reader may read: that of current_tenant(), or '' for all. A reader that has a tenant's role as
-- well, and has set no tenant, reads all rows and changes none, so current_tenant() remains '-' for it.
create or replace function minutehand.readers_tenant() returns text
language plpgsql stable parallel safe
as $$
begin
    return coalesce(nullif(minutehand.current_tenant(), '-'), '');
end
$$;

-- Returns the tenant whose rows the session may read: '' means all, '-' none.
create or replace function minutehand.read_scope() returns text
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
begin
    if coalesce(pg_has_role(minutehand.session_role(), to_regrole('minutehand_reader'), 'usage'), false) then
        return minutehand.readers_tenant();
    end if;
    return minutehand.tenant_scope();
end
$$;
