"""Each role can do its work with the library."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from minutehand import NewJob, Snooze, enqueue, enqueue_many
from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import claim
from minutehand.errors import ForbiddenError
from minutehand.handlers import HandlerTable
from minutehand.maintenance import run_maintenance
from minutehand.operations.defaults import Defaults, list_defaults, set_defaults
from minutehand.operations.deletion import count_finished, delete_finished
from minutehand.operations.jobs import cancel, promote, reschedule, retry
from minutehand.queries.health import check_health
from minutehand.queries.jobs import get, list_jobs, stats
from minutehand.schema.migrate import check_schema
from tests import servers
from tests.queue.logins import Login, logins
from tests.queue.roles.privileges import ROLES
from tests.queue.stage import GRACE, LEASE, Queue

pytestmark = pytest.mark.every_version


@pytest.mark.parametrize("role", ["enqueuer", "worker", "operator"])
def test_each_role_can_enqueue_in_every_way(login: Login, role: str, queue: Queue) -> None:
    session = login(role)
    made = enqueue("echo", {"n": 1}, key="a", connection=session)
    again = enqueue("echo", {"n": 2}, key="a", on_conflict="ignore", connection=session)
    late = enqueue("echo", run_at=datetime(2020, 1, 1, tzinfo=UTC), connection=session)
    many = list(
        enqueue_many([NewJob("echo", n, queue="new", priority=9) for n in range(3)], connection=session)
    )
    check_schema(session)

    assert [made.outcome, again.outcome, late.outcome] == ["created", "ignored", "created"]
    assert [item.outcome for item in many] == ["created"] * 3
    assert queue.row(made.id).payload == {"n": 1}


def test_worker_role_can_dispatch_and_work(login: Login, queue: Queue) -> None:
    worker = login("worker")

    def snooze(_payload) -> None:
        raise Snooze(timedelta(0))

    def effect(_payload, job) -> None:
        with job.transaction():
            job.result = "stored"
            enqueue("next", connection=worker)

    def newer(_payload, job) -> None:
        job.extend(timedelta(minutes=5))
        enqueue("newer", key="k", delay=timedelta(hours=1), connection=worker)
        raise ValueError("try again")

    kinds: dict[str, Callable[..., Any]] = {
        "ok": lambda _: 1,
        "fails": lambda _: 1 / 0,
        "snoozes": snooze,
        "effect": effect,
        "newer": newer,
    }
    for kind in kinds:
        queue.enqueue(kind, key="k" if kind == "newer" else None)
    queue.enqueue("dies", max_attempts=1)
    offers = queue.offer(database=worker)
    jobs = claim(worker, list(offers), LEASE, GRACE)
    dying = [job for job in jobs if job.kind == "dies"]
    endings = run_jobs([job for job in jobs if job not in dying], HandlerTable(kinds), stopping=lambda: False)
    queue.pass_time(dying[0].id)
    report = run_maintenance(worker, datetime.now(UTC) + timedelta(minutes=11))

    assert sorted(ending.ending for ending in endings) == [
        "done",
        "done",
        "retrying",
        "snoozed",
        "superseded",
    ]
    assert [record["kind"] for record in report.reaped] == ["dies"]
    assert report.swept
    assert queue.take(10, database=worker)


def test_operator_role_can_do_all_operations(login: Login, queue: Queue) -> None:
    operator = login("operator")
    ids = [queue.enqueue(payload=n, delay=timedelta(hours=1)) for n in range(5)]
    [running, cancelled, retried, promoted, moved] = ids
    promote(operator, [running])
    queue.take()

    assert [change.outcome for change in cancel(operator, [running, cancelled, retried])] == [
        "refused",
        "changed",
        "changed",
    ]
    assert [change.outcome for change in retry(operator, [retried])] == ["changed"]
    assert [change.outcome for change in promote(operator, [promoted])] == ["changed"]
    assert [change.outcome for change in reschedule(operator, [moved], delay=timedelta(days=1))] == [
        "changed"
    ]
    assert get(operator, moved).payload == 4
    assert len(list_jobs(operator).rows) == 5
    assert {depth.state for depth in stats(operator)} == {"running", "cancelled", "due", "scheduled"}
    set_defaults(operator, Defaults(kind="echo", priority=1))
    set_defaults(operator, Defaults(kind="echo", priority=2))
    assert [each.priority for each in list_defaults(operator)] == [2]
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert count_finished(operator, tomorrow) == sum(delete_finished(operator, tomorrow)) == 1


def test_worker_role_counts_connections_of_other_roles(direct_database: servers.Database) -> None:
    with logins(direct_database) as login, ExitStack() as others:
        for _ in range(5):
            others.enter_context(psycopg.connect(direct_database.admin_url))
        connection = others.enter_context(psycopg.connect(direct_database.admin_url))
        (max_connections,) = connection.execute(MAX_CONNECTIONS).fetchone()  # type: ignore[misc]

        assert check_health(login("worker")).connections_percent >= 500 // max_connections


MAX_CONNECTIONS = "select current_setting('max_connections')::integer"


@pytest.mark.parametrize("role", ROLES)
def test_missing_privilege_raises_forbidden_error(login: Login, role: str) -> None:
    with (
        pytest.raises(ForbiddenError, match="the database role may not do this"),
        login(role).transaction() as connection,
    ):
        connection.execute("insert into minutehand.migrations values (99, 'evil', 'evil')")
