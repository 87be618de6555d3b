"""Reached: from where a worker's next take goes on, and when it begins at the beginning again."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from minutehand.model.reached import BEGINNING, LONGEST_SECONDS, MOST_QUEUES, SECONDS, Reached
from minutehand.model.turns import SHARE

TIME = datetime(2026, 1, 1, tzinfo=UTC)


def rows(number: int) -> list[dict[str, Any]]:
    """Return the rows of a take whose last job has this number."""
    last = {"id": UUID(int=number), "priority": 5, "reached": TIME}
    return [{"id": UUID(int=0), "priority": 5, "reached": None}, last]


def after(number: int) -> dict[str, Any]:
    return {"after_priority": 5, "after_visible": TIME, "after_id": UUID(int=number)}


def test_take_goes_on_after_the_last_job_of_its_queue() -> None:
    reached = Reached(lambda: 0.0)
    reached.note("a", BEGINNING, rows(1), seconds=0.0)
    reached.note("b", BEGINNING, rows(2), seconds=0.0)

    assert [reached.after(queue) for queue in "abc"] == [after(1), after(2), BEGINNING]


@pytest.mark.parametrize("found", [[], rows(1)[:1]], ids=["no rows", "no place"])
def test_take_begins_again_if_none_was_reached(found: list[dict[str, Any]]) -> None:
    reached = Reached(lambda: 0.0)
    reached.note("a", BEGINNING, rows(1), seconds=0.0)

    reached.note("a", reached.after("a"), found, seconds=0.0)

    assert reached.after("a") is BEGINNING
    assert "a" not in reached


@pytest.mark.parametrize(
    ("seconds", "lasts"),
    [(0.0, SECONDS), (SECONDS, SHARE * SECONDS), (LONGEST_SECONDS, LONGEST_SECONDS)],
    ids=["fast", "slow", "very slow"],
)
def test_take_begins_again_after_a_time(seconds: float, lasts: float) -> None:
    now = [0.0]
    reached = Reached(lambda: now[0])
    reached.note("a", BEGINNING, rows(1), seconds)
    now[0] = lasts / 2
    # A take that goes on changes the place, and not the time.
    reached.note("a", reached.after("a"), rows(2), seconds)
    now[0] = lasts
    last = reached.after("a")
    now[0] = lasts + 0.001

    assert last == after(2)
    assert reached.after("a") is BEGINNING
    assert "a" in reached


def test_places_of_many_queues_are_forgotten() -> None:
    reached = Reached(lambda: 0.0)
    for number in range(MOST_QUEUES + 1):
        reached.note(str(number), BEGINNING, rows(number), seconds=0.0)

    assert [str(number) in reached for number in range(MOST_QUEUES + 1)] == [False] * MOST_QUEUES + [True]
