"""A deterministic history: finished jobs, attempts and events, spread evenly over UTC days."""

from datetime import UTC, date, datetime, timedelta

from minutehand.database import Connection

LAST = date(2026, 3, 31)  # long ago, so that it is closed

# Of 20 jobs one is dead after two attempts, one is cancelled, two are personal; every tenth needed a retry.
JOBS = """
insert into minutehand.jobs
       (id, ack, enqueued, run_at, visible, claimed, deleted, attempts, max_attempts, failed, cancelled, queue, kind,
        key, payload, headers, result, error, tenant, personal, version)
select md5('job' || n)::uuid, md5('ack' || n)::uuid, at - interval '20 s', at - interval '10 s', at + interval '60 s',
       at - interval '3 s', at, case when n %% 10 in (0, 5) then 2 else 1 end, 8, n %% 20 in (5, 7), n %% 20 = 7,
       (array['default', 'mail', 'reports'])[1 + n %% 3],
       (array['email', 'thumb', 'invoice', 'sync', 'report'])[1 + n %% 5],
       case when n %% 4 = 0 then 'key-' || n end,
       json_build_object('n', n, 'text', 'é "quoted" ' || md5(n::text)),
       case when n %% 6 = 0 then '{"trace": "t"}'::jsonb end,
       case when n %% 20 not in (5, 7) then json_build_object('ok', true) end,
       case when n %% 20 = 5 then 
            jsonb_build_object('type', 'ValueError', 'message', 'job ' || n, 'trace', 'at line 1') end,
       case when n %% 7 = 0 then 'acme' else '' end, n %% 10 = 3, 'v1'
  from (select n, %(since)s::timestamptz + (n - 0.5) * %(span)s::interval / %(jobs)s as at
          from generate_series(1, %(jobs)s) n) numbers
"""

ATTEMPTS = """
insert into minutehand.attempts
       (job, attempt, started, ended, memory_mb, tenant, queue, kind, outcome, worker, request, version, error)
select j.id, a,
       j.deleted - interval '3 s' - (j.attempts - a) * interval '60 s' + interval '1 ms' * (a * 7),
       j.deleted - (j.attempts - a) * interval '60 s', (array[512, 1024])[1 + length(j.kind) %% 2],
       j.tenant, j.queue, j.kind,
       case when a < j.attempts then 'retrying'
            when j.cancelled then 'cancelled' when j.failed then 'dead' else 'done' end,
       'worker', md5(j.id::text || a), 'v1',
       case when a < j.attempts or (j.failed and not j.cancelled)
            then '{"type": "ValueError", "message": "no", "trace": ""}'::jsonb end
  from minutehand.jobs j, generate_series(1, j.attempts) a
 where j.deleted is not null
"""

EVENTS = """
insert into minutehand.events (id, at, tenant, name, job, queue, kind, facts)
select md5('event' || j.id)::uuid, j.deleted, j.tenant, case when j.failed then 'dead' else 'done' end,
       j.id, j.queue, j.kind,
       '{"attempt": 1}'
  from minutehand.jobs j
 where j.deleted is not null
"""


def fill_history(
    connection: Connection, jobs: int, days: int = 1, last: date = LAST, *, alone: bool = False
) -> list[date]:
    """Write finished jobs over some days up to the last, with attempts and events unless `alone`; return the days."""
    first = last - timedelta(days=days - 1)
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    connection.execute("select minutehand.make_days(%s, %s)", [days, first])
    connection.execute(JOBS, {"since": since, "span": timedelta(days=days), "jobs": jobs})
    for others in () if alone else (ATTEMPTS, EVENTS):
        connection.execute(others, {})
    return [first + timedelta(days=day) for day in range(days)]
