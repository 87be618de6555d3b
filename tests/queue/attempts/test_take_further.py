"""A worker that is late takes its next jobs after the last ones, and does not read what it took before."""

from collections.abc import Iterator
from datetime import timedelta
from threading import Event as Flag
from typing import Any
from uuid import UUID

import pytest

from minutehand.database import Database
from minutehand.database.preparing import USES
from minutehand.handlers import HandlerTable
from minutehand.model.reached import BEGINNING, Reached
from minutehand.work import work
from tests.queue.late import late
from tests.queue.stage import GRACE, LEASE, Queue

# Within a transaction, `now()` stays as it is.
NOT_LATE = "update minutehand.jobs_live set visible = now() - interval '0.9 s', run_at = run_at"


def take(queue: Queue, limit: int = 2, after: Any = BEGINNING) -> list[dict[str, Any]]:
    limits = {"queue": "default", "limit": limit, "lease": LEASE, "grace": GRACE, "behind": None}
    rows = queue.database.run("take_ahead", **limits, **after)
    return sorted(rows, key=lambda row: (row["run_at"], row["id"]))


def place(rows: list[dict[str, Any]]) -> Any:
    """Return the place that a take reached."""
    reached = Reached()
    reached.note("default", BEGINNING, rows, seconds=0.0)
    return reached.after("default")


def ids(rows: list[dict[str, Any]]) -> set[UUID]:
    return {row["id"] for row in rows}


@pytest.mark.fault("take_ahead", r"then %\(after_visible\)s::timestamptz", "then min(floor)")
@pytest.mark.fault("take_ahead", r"max\(visible\) end as reached", "min(visible) end as reached")
def test_next_take_begins_after_the_last_job(direct_queue: Queue) -> None:
    _, second, third = late(direct_queue, 5, 4, 3)
    after = place(take(direct_queue))
    (before,) = late(direct_queue, 6)

    assert after["after_id"] == second
    assert direct_queue.database.run("clock")[0]["now"] - after["after_visible"] < timedelta(minutes=4.5)
    assert ids(take(direct_queue, 1, after)) == {third}
    assert ids(take(direct_queue)) == {before}


@pytest.mark.fault("take_ahead", r"order by visible, coalesce\(id, id\)", "order by visible, id desc")
@pytest.mark.fault("take_ahead", r"then %\(after_id\)s::uuid", "then '00000000-0000-0000-0000-000000000000'")
def test_jobs_of_the_same_time_are_taken_in_the_order_of_their_ids(direct_queue: Queue) -> None:
    made = sorted(late(direct_queue, *[5] * 4))
    direct_queue.sql("update minutehand.jobs_live set visible = now() - interval '5 minutes'")
    after = place(take(direct_queue))
    direct_queue.sql(
        "update minutehand.jobs_live set id = %(low)s, visible = %(at)s where id = %(id)s",
        low=UUID(int=1),
        id=direct_queue.enqueue(),
        at=after["after_visible"],
    )

    assert after["after_id"] == made[1]
    assert ids(take(direct_queue, 3, after)) == set(made[2:])


@pytest.mark.fault("take_ahead", r"and max\(visible\) < now\(\) - interval '1 second'", "")
def test_take_of_jobs_that_are_not_late_reaches_no_place(direct_queue: Queue) -> None:
    for _ in range(2):
        direct_queue.enqueue()

    with direct_queue.database.transaction() as connection:
        connection.execute(NOT_LATE)
        assert place(take(direct_queue)) is BEGINNING


@pytest.mark.fault("take_ahead", r"not bool_or\(alone\) and ", "")
def test_take_of_a_lapsed_job_reaches_no_place(direct_queue: Queue) -> None:
    """It is left, because it runs alone."""
    lapsed = direct_queue.claimed()
    direct_queue.pass_time(lapsed.id, timedelta(minutes=4))
    first, last = late(direct_queue, 5, 3)
    taken = take(direct_queue, 3)

    assert ids(taken) == {first, last}
    assert place(taken) is BEGINNING


@pytest.mark.fault("take_ahead", r"min\(priority\) = %\(after_priority\)s", "true")
def test_place_is_not_used_for_jobs_of_another_priority(direct_queue: Queue) -> None:
    late(direct_queue, 5, 4)
    after = place(take(direct_queue))
    (other,) = late(direct_queue, 6, priority=9)
    direct_queue.sql("delete from minutehand.lane_changes where priority = 5")

    assert ids(take(direct_queue, 2, after)) == {other}


class Recorded(Database):
    """A database that notes where each take ahead and each search begins."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.begins: list[str] = []

    def run_together(self, *calls: tuple[str, dict[str, Any]]) -> Any:
        self.begins += [
            name if values["after_id"] else "beginning" for name, values in calls if "after_id" in values
        ]
        return super().run_together(*calls)

    def run(self, name: str, /, **parameters: object) -> Any:
        if name in ("take", "first_due"):
            self.begins.append(name)
        return super().run(name, **parameters)


@pytest.fixture
def recorded(direct_queue: Queue) -> Iterator[Recorded]:
    database = Recorded(direct_queue.url)
    yield database
    database.close()


def work_late(queue: Queue, database: Recorded, chunk: int) -> list[object]:
    """Run late jobs, the twentieth of which lets others become due before them; return what was handled."""
    handled: list[object] = []
    late(queue, *range(100, 0, -1), payload="late")

    def handle(payload: object) -> None:
        handled.append(payload)
        if len(handled) == 20:
            late(queue, 200, 200, 200, payload="earlier")

    work(database, HandlerTable({"echo": handle}), Flag(), chunk=chunk, drain=True)
    assert (handled.count("late"), handled.count("earlier")) == (100, 3)
    return handled


@pytest.mark.parametrize("chunk", [1, 2])
def test_late_worker_takes_from_the_place_that_it_reached(
    direct_queue: Queue, recorded: Recorded, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant in (
        "model.reached.SECONDS",
        "model.turns.SEARCH_SECONDS",
        "database.preparing.FRESH_SECONDS",
    ):
        monkeypatch.setattr(f"minutehand.{constant}", 1000.0)
    work_late(direct_queue, recorded, chunk)

    # The first takes are not prepared, and none is taken ahead then.
    assert recorded.begins.count("take_ahead") >= 50 // chunk
    assert recorded.begins.count("beginning") <= USES + 5
    assert "first_due" not in recorded.begins


@pytest.mark.parametrize("chunk", [1, 2])
def test_late_worker_looks_for_jobs_before_the_place_in_time(
    direct_queue: Queue, recorded: Recorded, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant in ("SECONDS", "LONGEST_SECONDS"):
        monkeypatch.setattr(f"minutehand.model.reached.{constant}", 0.0)
    handled = work_late(direct_queue, recorded, chunk)

    assert recorded.begins.count("first_due") >= 10 > recorded.begins.count("beginning")
    assert handled[-1] == "late"


def first_due(queue: Queue) -> list[UUID]:
    return [row["id"] for row in queue.database.run("first_due", queue="default")]


@pytest.mark.fault("first_due", r" - interval '1 second'", "")
def test_first_due_job_is_a_late_one_that_may_start(direct_queue: Queue) -> None:
    direct_queue.enqueue()
    with direct_queue.database.transaction() as connection:
        connection.execute(NOT_LATE)
        of_nobody = first_due(direct_queue)
    (expired,) = late(direct_queue, 9, expires=timedelta(minutes=1))
    direct_queue.sql(
        "update minutehand.jobs_live set run_at = run_at - interval '1 hour' where id = %(id)s", id=expired
    )
    first, _ = late(direct_queue, 4, 3)

    assert (of_nobody, first_due(direct_queue)) == ([], [first])


@pytest.mark.fault("first_due", r"where \(select count.*= 1", "limit 1")
def test_first_due_job_of_two_priorities_is_unknown(direct_queue: Queue) -> None:
    late(direct_queue, 5)
    late(direct_queue, 5, priority=9)

    assert first_due(direct_queue) == []
