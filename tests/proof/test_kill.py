"""A worker that is killed at any point loses its claim, but no job is lost."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from proving import GRACE, HERE, LEASE, Post, Sessions, pass_time, settings, sql

from minutehand import Database, Job, Retry, enqueue
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import run_event
from minutehand.model.outcome import Cancelled, Done, Failed, Outcome, Snoozed
from minutehand.model.row import Row
from minutehand.queries.jobs import get
from minutehand.tick import tick
from tests import servers
from tests.waiting import until
from tests.watchdog import line, watched

pytestmark = [pytest.mark.every_server, pytest.mark.kill]

BEFORE_COMMIT = ["claimed", "handler", "effect", "finishing"]
POINTS = [("effect", point) for point in [*BEFORE_COMMIT, "finished"]] + [
    ("transact", point) for point in ("claimed", "transaction", "settled")
]
COMMITTED = {"finished", "settled"}
Event = dict[str, Any]


@pytest.fixture
def db(sessions: Sessions) -> Database:
    db = sessions()
    sql(db, "create table effects (job uuid)")
    return db


@pytest.mark.parametrize(("kind", "point"), POINTS)
def test_job_of_a_killed_worker_is_due_again_and_done(
    database: servers.Database, db: Database, kind: str, point: str
) -> None:
    job_id = enqueue(kind, connection=db).id

    ack = kill_at(database, point, next_event(db))
    row = after_lease(db, job_id)

    if point in COMMITTED:
        assert (row.state, row.attempts) == ("done", 1)
    else:
        assert (row.state, row.attempts) == ("due", 1)
        assert run_jobs(db) == ["done"]
        assert (get(db, job_id).state, get(db, job_id).attempts) == ("done", 2)
    assert finish_in_every_way(db, job_id, ack) == {"lost"}
    assert get(db, job_id).state == "done"
    effects = sql(db, "select count(*) from effects where job = %(id)s", id=job_id)[0][0]
    assert effects == (2 if point in ("effect", "finishing") else 1)
    if kind == "transact":
        assert effects == 1


def test_ack_of_a_killed_worker_is_void_after_another_claim(database: servers.Database, db: Database) -> None:
    job_id = enqueue("effect", connection=db).id
    ack = kill_at(database, "handler", next_event(db))
    after_lease(db, job_id)

    (job,) = take(db, "default", 1, LEASE, GRACE)

    assert finish_in_every_way(db, job_id, ack) == {"lost"}
    assert get(db, job_id).state == "running"
    assert finish(job, Done()).ending == "done"


def test_job_that_kills_its_workers_is_dead_after_its_attempts(
    database: servers.Database, db: Database
) -> None:
    job_id = enqueue("effect", max_attempts=3, connection=db).id

    for attempt in (1, 2, 3):
        kill_at(database, "handler", next_event(db))
        assert after_lease(db, job_id).attempts == attempt
    post = Post()
    made = tick(db, post, settings())
    row = get(db, job_id)

    assert [record["id"] for record in made.maintenance.reaped] == [job_id]
    assert (post.events, row.state, row.attempts) == ([], "dead", 3)
    assert row.error is not None
    assert row.error["type"] == "WorkerDied"


def test_jobs_of_a_killed_dispatcher_are_offered_again(database: servers.Database, db: Database) -> None:
    ids = {enqueue("effect", n, connection=db).id for n in range(3)}
    with process("dispatcher", database.url) as dispatcher:
        assert read_report(dispatcher) == {"at": "offered"}

    post = Post()
    assert tick(db, post, settings()).offered.offers == ()
    pass_time(db)

    assert {offer.id for offer in tick(db, post, settings()).offered.offers} == ids
    assert [ending for event in post.events for ending in work(db, event)] == ["done"] * 3
    assert {get(db, job_id).attempts for job_id in ids} == {1}


@pytest.mark.parametrize(("kind", "point"), POINTS)
def test_worker_with_a_lost_connection_loses_no_job(
    database: servers.Database, db: Database, kind: str, point: str
) -> None:
    job_id = enqueue(kind, connection=db, retry=AT_ONCE).id
    event = next_event(db)

    with process("worker", database.url, point, json.dumps(event)) as worker:
        read_report(worker)
        cut(database)
        worker.stdin.write("go on\n")  # type: ignore[union-attr]
        worker.stdin.flush()  # type: ignore[union-attr]
        report = read_report(worker)

    db.close()
    assert report.get("raised", "UnreachableError") == "UnreachableError", report
    assert set(report.get("endings", [])) <= {"done", "retrying", "lost"}
    row = after_lease(db, job_id)
    assert row.state in ("due", "done")
    assert point not in COMMITTED or row.state == "done"
    if row.state == "due":
        assert run_jobs(db) == ["done"]
    assert get(db, job_id).state == "done"
    effects = sql(db, "select count(*) from effects where job = %(id)s", id=job_id)[0][0]
    assert effects >= 1
    assert kind == "effect" or effects == 1


AT_ONCE = Retry(strategy="fixed", min=LEASE * 0, max=LEASE * 0, jitter=False)
CUT = """select count(pg_terminate_backend(pid)) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()"""
OPEN = """select count(*) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null"""


@contextmanager
def process(*words: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a process, which is killed at the end of the block."""
    child = subprocess.Popen(
        [sys.executable, HERE / "mortal.py", *words], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with watched(child):
        yield child


def read_report(child: "subprocess.Popen[str]") -> dict[str, Any]:
    report: dict[str, Any] = json.loads(line(child))
    return report


def kill_at(database: servers.Database, point: str, event: Event, passes: int = 1) -> UUID:
    """Kill a worker when it reaches a point for the nth time, and return its ack."""
    with process("worker", database.url, point, json.dumps(event), str(passes)) as worker:
        report = read_report(worker)
    assert report["at"] == point
    admin = Database(database.admin_url)
    until(lambda: sql(admin, OPEN)[0][0] == 0)
    admin.close()
    return UUID(report["ack"])


def cut(database: servers.Database) -> None:
    """End every backend of the database."""
    admin = Database(database.admin_url)
    sql(admin, CUT)
    until(lambda: sql(admin, CUT)[0][0] == 0)
    admin.close()


def next_event(db: Database) -> Event:
    post = Post()
    tick(db, post, settings())
    (event,) = post.events
    return event


def after_lease(db: Database, job_id: UUID) -> Row:
    """Return the job after the end of its lease."""
    pass_time(db)
    return get(db, job_id)


def work(db: Database, event: Event) -> list[str]:
    """Let a worker handle an event, without killing it."""

    def effect(_: object, job: Job) -> None:
        sql(db, "insert into effects values (%(id)s)", id=job.id)

    def transact(_: object, job: Job) -> None:
        with job.transaction() as connection:
            connection.execute("insert into effects values (%s)", [job.id])

    table = HandlerTable({"effect": effect, "transact": transact})
    return [ending.ending for ending in run_event(db, table, event, lambda: LEASE, GRACE)]


def run_jobs(db: Database) -> list[str]:
    return work(db, next_event(db))


def finish_in_every_way(db: Database, job_id: UUID, ack: UUID) -> set[str]:
    """Try to finish a job with an ack in every way, and return the outcomes."""
    (facts,) = db.run("get", id=job_id)
    late = Job.from_record({**facts, "ack": ack}, db, LEASE, GRACE)
    error = {"type": "Late", "message": "too late"}
    outcomes: list[Outcome] = [
        Done(),
        Failed(error),
        Failed(error, final=True),
        Cancelled(error),
        Snoozed(LEASE),
    ]
    return {finish(late, outcome).ending for outcome in outcomes}
