"""The statement with which a worker takes its next jobs ahead: where it takes any, they are those of `take`."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from threading import Event as Flag
from typing import Any

import pytest

from minutehand.database import Database
from minutehand.database.preparing import USES
from minutehand.handlers import HandlerTable
from minutehand.operations.controls import limit, pause
from minutehand.work import work
from tests.queue.stage import GRACE, LEASE, LONG, WITHOUT_LIMITS, Queue

EXPIRED = "run_at = run_at - interval '1 year'"


class Undone(Exception):
    """Rolls a transaction back."""


def first_taken(queue: Queue, name: str) -> list[Any]:
    """Return the jobs that a statement takes first, as its rows have them, and take none."""
    rows: list[Any] = []
    with suppress(Undone), queue.database.transaction():
        rows = queue.database.run(
            name, queue="default", limit=3, lease=LEASE, grace=GRACE, **WITHOUT_LIMITS[name]
        )
        raise Undone
    return sorted((row["priority"], row["id"], row["attempts"]) for row in rows)


@pytest.mark.fault("take_ahead", r"visible <= now\(\) and", "")
@pytest.mark.fault("take_ahead", r"attempts < max_attempts", "true")
@pytest.mark.fault("take_ahead", r"cancelling is null and", "")
@pytest.mark.fault("take_ahead", r"minutehand\.expires_at\(run_at, expires\) > now\(\)", "true")
@pytest.mark.fault("take_ahead", r" or attempts > 0", "")
@pytest.mark.fault("take_ahead", r" filter \(where not alone\)", "")
@pytest.mark.fault("take_ahead", r"when \(array_agg\(alone\)\)\[1\]", "when false")
@pytest.mark.fault("take_ahead", r"order by visible, coalesce\(id, id\)", "order by id desc")
def test_take_ahead_takes_the_jobs_that_a_take_would(direct_queue: Queue) -> None:
    ids = [direct_queue.enqueue(tenant="acme" if number == 7 else None) for number in range(8)]
    first, second = direct_queue.take(2)
    direct_queue.enqueue(delay=LONG)
    direct_queue.enqueue(queue="other")
    for change in EXPIRED, f"{EXPIRED}, attempts = 1", "attempts = max_attempts", "cancelling = 'no'":
        direct_queue.sql(
            f"update minutehand.jobs_live set {change} where id = %(id)s",
            id=direct_queue.enqueue(expires=LONG if EXPIRED in change else None),
        )
    order = (ids[5], first.id, ids[2], ids[4], second.id, ids[3], ids[6], ids[7])
    for minutes, job_id in enumerate(order):
        direct_queue.pass_time(job_id, timedelta(minutes=20 - minutes))

    takes = []
    for _ in range(6):
        taken = first_taken(direct_queue, "take_ahead")
        assert taken == first_taken(direct_queue, "take")
        takes.append(len(taken))
        direct_queue.take(3)

    # The expired job that may start is one that has had an attempt.
    assert takes == [2, 1, 2, 1, 3, 0]


CONTROLS: dict[str, Callable[[Queue], object]] = {
    "pause": lambda queue: pause(queue.database, queue="default"),
    "limit": lambda queue: limit(queue.database, 5, queue="default"),
    "limit of a kind": lambda queue: limit(queue.database, 5, kind="echo"),
    "group": lambda queue: queue.enqueue(group="house"),
    "another priority": lambda queue: queue.enqueue(priority=9),
}


@pytest.mark.fault("take_ahead", r"having .*?'', %\(queue\)s\)\)", "")
@pytest.mark.parametrize("control", CONTROLS)
def test_take_ahead_takes_nothing_under_a_control(direct_queue: Queue, control: str) -> None:
    direct_queue.enqueue()
    assert first_taken(direct_queue, "take_ahead")

    CONTROLS[control](direct_queue)

    assert first_taken(direct_queue, "take_ahead") == []


@pytest.mark.parametrize("control", CONTROLS)
def test_worker_runs_jobs_under_a_control(direct_queue: Queue, control: str) -> None:
    handled: list[object] = []
    for _ in range(4 * USES):
        direct_queue.enqueue()
    CONTROLS[control](direct_queue)

    table = HandlerTable({"echo": handled.append})
    work(direct_queue.database, table, Flag(), chunk=1, drain=True)

    more = {"pause": -4 * USES, "group": 1, "another priority": 1}
    assert len(handled) == 4 * USES + more.get(control, 0)


class Takes(Database):
    """A database that notes the queue of each take ahead."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.ahead: list[str] = []

    def run_together(self, *calls: tuple[str, dict[str, Any]]) -> Any:
        self.ahead += [values["queue"] for name, values in calls if name == "take_ahead"]
        return super().run_together(*calls)


@pytest.fixture
def takes(direct_queue: Queue) -> Iterator[Takes]:
    database = Takes(direct_queue.url)
    yield database
    database.close()


def test_queue_with_several_priorities_keeps_its_turns(
    direct_queue: Queue, takes: Takes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other queue keeps its takes ahead."""
    for constant in (
        "attempts.taker.ONLY_TAKE_SECONDS",
        "model.turns.SEARCH_SECONDS",
        "database.preparing.FRESH_SECONDS",
    ):
        monkeypatch.setattr(f"minutehand.{constant}", 1000.0)
    handled: list[object] = []
    for number in range(60):
        direct_queue.enqueue(payload="mixed", queue="mixed", priority=3 + number % 2)
        direct_queue.enqueue(payload="plain", queue="plain")

    work(takes, HandlerTable({"echo": handled.append}), Flag(), chunk=1, drain=True)

    assert handled == ["mixed", "plain"] * 60 or handled == ["plain", "mixed"] * 60
    # The first ones are not prepared, and are not sent.
    assert takes.ahead.count("mixed") <= USES
    assert takes.ahead.count("plain") > 40
