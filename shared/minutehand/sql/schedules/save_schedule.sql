-- Creates or changes a schedule; its last firing is kept.
insert into minutehand.schedules as s
       (tenant, name, every, zone, starts, ends, jitter, ahead, catch_up, max_catch_up, overlap, job, source, hash, next, wake)
values (minutehand.current_tenant(), %(name)s, %(every)s, %(zone)s, %(starts)s, %(ends)s, %(jitter)s, %(ahead)s, %(catch_up)s,
        %(max_catch_up)s, %(overlap)s,
        -- Parsed as `fire` parses it, so that an invalid job (\u0000) is refused now and not at its moment.
        (select %(job)s::json from json_populate_record(null::minutehand.new_jobs, %(job)s::json)), %(source)s, %(hash)s, %(next)s, %(wake)s)
    on conflict (tenant, name) do update
   set every = excluded.every, zone = excluded.zone, starts = excluded.starts, ends = excluded.ends,
       jitter = excluded.jitter, ahead = excluded.ahead, catch_up = excluded.catch_up, max_catch_up = excluded.max_catch_up,
       overlap = excluded.overlap, job = excluded.job, source = excluded.source, hash = excluded.hash,
       next = excluded.next, wake = excluded.wake, changed = clock_timestamp()
returning tenant, name, every, zone, starts, ends, jitter, ahead, catch_up, max_catch_up, overlap, job, paused, source, hash, next,
          fired, last, created, changed
