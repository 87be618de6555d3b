"""In mode sleep, the end of a job requests a wake-up for the jobs that run after it."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from uuid import UUID

import pytest

from minutehand import Database, enqueue
from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import take
from minutehand.handlers import HandlerTable
from minutehand.operations.deletion import delete
from minutehand.operations.jobs import cancel
from tests.queue.stage import GRACE, LEASE
from tests.servers import Database as Address
from tests.sleep.event_bridge import EventBridge
from tests.sleep.test_writes import HOUR, now, soon

DUE = "update minutehand.jobs_live set visible = now(), run_at = run_at where after is null"


@pytest.fixture
def database(direct_database: Address) -> Iterator[Database]:
    with closing(Database(direct_database.url)) as database:
        yield database


def work(database: Database, _ids: list[UUID]) -> None:
    database.connection.execute(
        "update minutehand.jobs_live set visible = now(), run_at = run_at where after is null"
    )
    run_jobs(
        take(database, "default", 1, LEASE, GRACE), HandlerTable({"echo": lambda job: None}), lambda: False
    )


@pytest.mark.parametrize("end", [work, cancel, delete])
def test_end_of_a_job_has_a_wakeup_for_its_successor(
    database: Database, event_bridge: EventBridge, end: Callable[..., Any]
) -> None:
    first = enqueue("echo", delay=HOUR, connection=database)
    enqueue("echo", after=[first], delay=HOUR, connection=database)
    before = set(event_bridge.minutes)
    end(database, [first.id])
    (added,) = set(event_bridge.minutes) - before
    assert added in soon(database)
    assert added < now(database) + HOUR
