-- Search: whether a job matches filters that no index serves, and the causes of failures.

-- Returns the cause of a failure: the type of its error and the first line of the message, in which numbers, quoted texts, ids and
-- mail addresses are replaced by #. Failures with the same cause are one problem. The same rule as model/cause.py; a test compares
-- the two. One expression, so that Postgres inlines it.
create or replace function minutehand.cause(error jsonb) returns text
language sql immutable parallel safe
as $$
    select left(coalesce(error ->> 'type', 'Error'), 100) || ': ' || left(regexp_replace(
        -- Without a part of a word at the end of a message that is cut: that may be a part of a value.
        case when length(split_part(error ->> 'message', E'\n', 1)) > 400
             then coalesce(substring(left(split_part(error ->> 'message', E'\n', 1), 400) from '^(.*) '), '')
             else coalesce(split_part(error ->> 'message', E'\n', 1), '') end,
        '"(?:[^"\\]|\\.)*(?:"|\\?$)|(?<![A-Za-z0-9])''(?:[^''\\]|\\.|''(?=\w))*(?:''|\\?$)'
            -- Left out if the message has none of these characters, because they double the time.
            || case when error ->> 'message' ~ '[@`\u00ab\u2018\u201c\u201e]'
                    then '|`[^`]*(?:`|$)|[\u201c\u201e][^\u201c\u201d]*(?:[\u201c\u201d]|$)|\u00ab[^\u00bb]*(?:\u00bb|$)'
                         '|\u2018(?:[^\u2019]|\u2019(?=\w))*(?:\u2019|$)|\S+@\S+' else '' end
            || '|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}|\m(?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}\M|[0-9]+(?:[.:,][0-9]+)*',
        '#', 'g'), 200)
$$;

-- Whether a payload fulfills a path. False for one that jsonb cannot represent, and for one of more than 16 KiB as it is stored,
-- so that a search reads a bounded amount.
create or replace function minutehand.payload_matches(payload json, path jsonpath) returns boolean
language plpgsql immutable
as $$
begin
    return pg_column_size(payload) <= 16384 and jsonb_path_exists(payload::jsonb, path);
exception
    when data_exception or program_limit_exceeded or statement_too_complex then return false;
end
$$;

-- Whether a job matches a filter: the parameters of `list_jobs` that are set. Postgres puts its text into the statement, without the
-- parts of parameters that are not set.
create or replace function minutehand.matches(job minutehand.jobs, filter jsonb) returns boolean
language sql stable
as $$
    select (filter ->> 'queue' is null or job.queue = filter ->> 'queue')
       and (filter ->> 'kind' is null or job.kind = filter ->> 'kind')
       and (filter ->> 'key' is null or job.key = filter ->> 'key')
       and (filter ->> 'key_prefix' is null or starts_with(job.key, filter ->> 'key_prefix'))
       and (filter ->> 'group' is null or job.group = filter ->> 'group')
       and (filter ->> 'priority' is null or job.priority = (filter ->> 'priority')::integer)
       and (filter ->> 'version' is null or job.version = filter ->> 'version')
       and (filter ->> 'tenant' is null or job.tenant = filter ->> 'tenant')
       and (filter ->> 'schedule' is null or job.schedule = filter ->> 'schedule')
       and (filter ->> 'since' is null or job.enqueued >= (filter ->> 'since')::timestamptz)
       and (filter ->> 'until' is null or job.enqueued < (filter ->> 'until')::timestamptz)
       and (filter -> 'headers' is null or job.headers @> (filter -> 'headers'))
       and (filter -> 'states' is null or filter -> 'states' ? minutehand.state(job))
       and (filter ->> 'result_dropped' is null or job.deleted is not null and not job.failed and job.error ->> 'stage' = 'result')
       and (filter ->> 'error' is null or job.error ->> 'type' = filter ->> 'error')
       and (filter ->> 'cause' is null or case when job.error is not null then minutehand.cause(job.error) = filter ->> 'cause' end)
       and (filter ->> 'payload' is null or minutehand.payload_matches(job.payload, (filter ->> 'payload')::jsonpath))
$$;
