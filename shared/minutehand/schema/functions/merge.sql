-- Merging an item into the upcoming job of its key.

-- Refuses a merge by a session that may not read the job and did not enqueue it. The merged job keeps its headers and
-- the rest of its payload, so a new `url` would send them elsewhere.
create or replace function minutehand.check_merge(job minutehand.jobs_live) returns void
language plpgsql stable
as $$
declare
    acts name := minutehand.session_role();
begin
    if acts = job.enqueued_by
       or pg_has_role(acts, (select relowner from pg_class where oid = 'minutehand.jobs'::regclass), 'usage')
       or pg_has_role(acts, to_regrole('minutehand_worker'), 'usage')
       or pg_has_role(acts, to_regrole('minutehand_operator'), 'usage')
       or pg_has_role(acts, to_regrole('minutehand_tenant'), 'usage') and minutehand.current_tenant() = job.tenant then
        return;
    end if;
    perform minutehand.refuse('merge_is_allowed', format('role %I may not merge into a job that it did not enqueue and may not read', acts), '42501');
end
$$;

-- Merges two payloads: arrays are concatenated, of two objects the later field wins, and null adds nothing.
-- The values stay text.
create or replace function minutehand.merged(old json, new json) returns json
language plpgsql stable security definer set search_path = minutehand, pg_temp
as $$
declare
    types  text := json_typeof(old) || ' ' || json_typeof(new);
    merged json;
    max_bytes integer := (select max_payload from minutehand.settings);
begin
    if (old -> 'minutehand' -> 'v') is not null or (new -> 'minutehand' -> 'v') is not null then
        perform minutehand.refuse('payloads_merge', 'encrypted payloads cannot be merged');
    end if;
    case
        when json_typeof(new) = 'null' then merged := old;
        when json_typeof(old) = 'null' then merged := new;
        when types = 'array array' then
            select '[' || coalesce(string_agg(value::text, ',' order by side, n), '') || ']' into merged
              from (select 1 as side, value, n from json_array_elements(old) with ordinality e (value, n)
                    union all
                    select 2, value, n from json_array_elements(new) with ordinality e (value, n)) e;
        when types = 'object object' then
            select '{' || coalesce(string_agg(to_json(name) || ':' || value, ','), '') || '}' into merged
              from (select distinct on (name) name, value
                      from (select 1 as side, name, value, n from json_each(old) with ordinality e (name, value, n)
                            union all
                            select 2, name, value, n from json_each(new) with ordinality e (name, value, n)) e
                     order by name, side desc, n desc) e;
        else perform minutehand.refuse('payloads_merge', 'merge requires two arrays or two objects');
    end case;
    if octet_length(merged::text) > max_bytes then
        perform minutehand.too_large('payload', octet_length(merged::text), max_bytes, 'bytes');
    end if;
    return merged;
exception
    -- Reading JSON unescapes it, and Postgres text cannot hold \u0000 or half a surrogate pair.
    when untranslatable_character or invalid_text_representation then
        perform minutehand.refuse('payloads_merge', 'payloads with \u0000 or half a surrogate pair cannot be merged');
end
$$;

-- Merges an item's payload into an upcoming job. Moves the job only if the item is debounced.
create or replace function minutehand.merge_into(into_job uuid, item minutehand.new_jobs)
returns table (ordinal bigint, id uuid, outcome text, visible timestamptz)
language sql volatile
as $$
    with target as (
        select j.id, minutehand.kept_latest(j, clock_timestamp(), clock_timestamp() + item.debounce_max) as latest
          from minutehand.jobs_live j
         where j.id = into_job
    ), moved as (
        select id, coalesce(latest, clock_timestamp() + item.debounce_max) as latest,
               case when latest > clock_timestamp() or latest is null then least(clock_timestamp() + item.debounce, latest) end as to_time
          from target
         where item.debounce is not null
    )
    update minutehand.jobs_live j
       set payload = minutehand.merged(j.payload, coalesce(item.payload, 'null')),
           personal = j.personal or coalesce(item.personal, false),
           -- The longer of the two; a job without it never expires.
           expires = case when j.expires is not null and item.expires is not null then greatest(j.expires, item.expires) end,
           enqueued = clock_timestamp(), attempts = 0, error = null, result = null,
           run_at = coalesce(to_time, run_at), visible = coalesce(to_time, j.visible),
           ack = case when to_time is null then ack end, prior = case when to_time is null then prior end,
           offered = case when to_time is null then offered end, latest = coalesce(moved.latest, j.latest)
      from target left join moved using (id)
     where j.id = target.id
    returning item.ordinal, j.id, 'merged', j.visible::timestamptz
$$;
