"""A database with a million jobs, and the time that the API takes for the requests of a page."""

from time import monotonic
from urllib.request import urlopen

from playwright.sync_api import Page, Request, expect

from minutehand.database import Connection

JOBS = 1_000_000
TRIES = 5
# Jobs of a week in 20 queues and 50 kinds; every hundredth died. The newest day has attempts.
DAYS = "select minutehand.make_days(0, (now() at time zone 'UTC')::date - n) from generate_series(0, 8) n"
FINISHED = """
insert into minutehand.jobs_done
       (id, queue, kind, key, payload, run_at, visible, enqueued, deleted, failed, attempts, version, error)
select overlay(minutehand.first_id(at)::text placing substr(gen_random_uuid()::text, 16) from 16)::uuid,
       'queue-' || n %% 20, 'kind_' || n %% 50, 'key/' || n, '{"customer": 4}', at, at, at, at + interval '2 seconds',
       n %% 100 = 0, 1, '42',
       case when n %% 100 = 0 then jsonb_build_object('type', 'TimeoutError', 'message', 'no answer from ' || n) end
  from (select n, now() - n * interval '0.63 seconds' as at from generate_series(1, %(count)s) n) made
"""
ATTEMPTS = """
insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome, worker, version, error)
select id, 1, deleted - interval '1 second', deleted, queue, kind, case when failed then 'dead' else 'done' end,
       'shop-worker', version, error
  from minutehand.jobs_done where deleted > now() - interval '1 day'
"""
LIVE = """
insert into minutehand.jobs_live (queue, kind, key, run_at, visible)
select 'queue-' || n %% 20, 'kind_' || n %% 50, 'live/' || n, at, at
  from (select n, now() + (n - %(count)s / 2) * interval '0.1 seconds' as at
          from generate_series(1, %(count)s) n) made
"""
SCHEDULES = """
insert into minutehand.schedules (name, every, job, next, wake)
select 'schedule ' || n, '0 * * * *', '{"kind": "kind_1"}', at, at
  from (select n, now() + n * interval '1 minute' as at from generate_series(1, 1000) n) made
"""
BATCHES = """
insert into minutehand.batches (id, name, created, closed)
select overlay(minutehand.first_id(at)::text placing substr(gen_random_uuid()::text, 16) from 16)::uuid,
       'batch ' || n, at, at
  from (select n, now() - n * interval '30 seconds' as at from generate_series(1, 20000) n) made
"""
COUNTS = """
insert into minutehand.batch_counts (batch, shard, open, done, dead)
select id, shard, 1, 9, 1 from minutehand.batches cross join generate_series(0, 3) shard
"""
AUDIT = """
insert into minutehand.audit (id, at, actor, verb, facts)
select overlay(minutehand.first_id(at)::text placing substr(gen_random_uuid()::text, 16) from 16)::uuid, at,
       case n %% 1000 when 0 then 'ada' else 'bob' end, 'pause', '{"queue": "mail"}'
  from (select n, now() - n * interval '6 seconds' as at from generate_series(1, %(count)s) n) made
"""
TICKED = "update minutehand.dispatcher set ticked = now(), capacity = 50"


def fill(connection: Connection) -> None:
    """Fill a database with a million jobs, 20,000 batches, and 100,000 entries of the audit trail."""
    live = JOBS // 20
    connection.execute(DAYS)
    connection.execute(FINISHED, {"count": JOBS - live})
    connection.execute(ATTEMPTS)
    connection.execute(LIVE, {"count": live})
    connection.execute(SCHEDULES)
    connection.execute(BATCHES)
    connection.execute(COUNTS)
    connection.execute(AUDIT, {"count": JOBS // 10})
    connection.execute(TICKED)
    vacuum(connection)


def vacuum(connection: Connection) -> None:
    """Vacuum what changed, as autovacuum does, which the servers of tests do not have."""
    for table in ("jobs", "attempts", "schedules", "batches", "batch_counts", "audit"):
        connection.execute(f"vacuum analyze minutehand.{table}")  # type: ignore[arg-type]


def time_of(page: Page, url: str, path: str) -> float:
    """Return the milliseconds of a page's requests, one after the other, each the fastest of several tries."""
    sent: set[str] = set()

    def note(request: Request) -> None:
        if request.method == "GET" and "/console" not in request.url and not request.url.endswith("/me"):
            sent.add(request.url)

    page.on("request", note)
    page.goto(url + path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)
    page.remove_listener("request", note)
    assert sent
    return sum(min(milliseconds(each) for _ in range(TRIES)) for each in sent)


def milliseconds(url: str) -> float:
    began = monotonic()
    with urlopen(url) as answer:
        answer.read()
    return (monotonic() - began) * 1000
