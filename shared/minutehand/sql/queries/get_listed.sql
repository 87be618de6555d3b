-- Returns jobs without payloads, the newest first.
select j.id, j.queue, j.kind, j.key, j.group, j.priority, j.attempts, j.max_attempts, j.enqueued, j.run_at, j.visible, j.offered,
       j.claimed, j.deleted, j.error, j.tenant, j.version, j.every, j.zone, j.nominal, j.schedule, j.batch, j.cancelling,
       minutehand.state(j) as state
  from minutehand.jobs j
 where j.id = any (%(ids)s)
 order by j.id desc
