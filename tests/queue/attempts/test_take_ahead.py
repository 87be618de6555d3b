"""The statement with which a worker takes its next jobs ahead: where it takes any, they are those of `take`."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event as Flag
from typing import Any

import pytest

from minutehand.database.preparing import USES
from minutehand.handlers import HandlerTable
from minutehand.operations.controls import limit, pause
from minutehand.work import work
from tests.queue.stage import GRACE, LEASE, LONG, WITHOUT_LIMITS, Queue


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


@pytest.mark.fault("take_ahead", r"cancelling is null and \(expires.*?attempts > 0\)", "true")
@pytest.mark.fault("take_ahead", r"place = 1 or not \(alone or first_alone\)", "true")
@pytest.mark.fault("take_ahead", r" - l\.priority \* \(.*?\)", "")
def test_take_ahead_takes_the_jobs_that_a_take_would(direct_queue: Queue) -> None:
    lapsed, _ = direct_queue.claimed(priority=9), direct_queue.claimed()
    direct_queue.sql("update minutehand.jobs_live set visible = now() where id = %(id)s", id=lapsed.id)
    direct_queue.enqueue(delay=LONG, priority=9)
    direct_queue.enqueue(queue="other", priority=9)
    expired = direct_queue.enqueue(expires=LONG, priority=9)
    direct_queue.sql(
        "update minutehand.jobs_live set run_at = run_at - interval '1 year' where id = %(id)s", id=expired
    )
    for priority in (1, 5, 9, 5, 1):
        direct_queue.enqueue(priority=priority)

    for _ in range(3):
        assert (taken := first_taken(direct_queue, "take_ahead")) == first_taken(direct_queue, "take")
        direct_queue.take(3)

    assert taken


CONTROLS: dict[str, Callable[[Queue], object]] = {
    "pause": lambda queue: pause(queue.database, queue="default"),
    "limit": lambda queue: limit(queue.database, 5, queue="default"),
    "limit of a kind": lambda queue: limit(queue.database, 5, kind="echo"),
    "group": lambda queue: queue.enqueue(group="house"),
}


@pytest.mark.fault(
    "take_ahead", r"where not exists \(select from minutehand\.controls.*?grouped\)", "where true"
)
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

    assert len(handled) == {"pause": 0, "group": 4 * USES + 1}.get(control, 4 * USES)
