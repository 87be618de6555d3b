-- Edits upcoming jobs and returns their previous values. The edit ends a claim that has lapsed.
with was as materialized (
    select j.id, j.queue, j.kind, j.key, j.attempts, j.tenant, j.priority, j.max_attempts, j.retry, j.timeout, j.visible
      from minutehand.jobs j
     where j.deleted is null and j.id = any (%(ids)s) and minutehand.state(j, clock_timestamp()) <> 'running'
       and cancelling is null
       and attempts < case when 'max_attempts' = any (%(fields)s::text[]) then %(max_attempts)s::minutehand.max_attempts
                           else max_attempts end
       for update
)
update minutehand.jobs j
   set payload = case when 'payload' = any (%(fields)s::text[]) then minutehand.fitting(%(payload)s::json) else j.payload end,
       headers = case when 'headers' = any (%(fields)s::text[]) then %(headers)s::jsonb else j.headers end,
       priority = case when 'priority' = any (%(fields)s::text[]) then %(priority)s else j.priority end,
       max_attempts = case when 'max_attempts' = any (%(fields)s::text[]) then %(max_attempts)s else j.max_attempts end,
       retry = case when 'retry' = any (%(fields)s::text[]) then %(retry)s::jsonb else j.retry end,
       timeout = case when 'timeout' = any (%(fields)s::text[]) then %(timeout)s::interval else j.timeout end,
       ack = case when j.claimed is null then j.ack end, prior = case when j.claimed is null then j.prior end,
       offered = case when j.claimed is null then j.offered end, lapsed = coalesce(j.claimed, j.lapsed), claimed = null
  from was
 where j.deleted is null and j.id = any (%(ids)s) and j.id = was.id
returning was.*, case when j.key is not null then minutehand.refuse_superseded(j.id) end
