"""Looked: how long before now a worker's next take may begin, and when it begins at the beginning again."""

import pytest

from minutehand.model.looked import MARGIN, SECONDS, Looked
from minutehand.model.reached import MOST_QUEUES


@pytest.fixture
def now() -> list[float]:
    return [100.0]


@pytest.fixture
def looked(now: list[float]) -> Looked:
    return Looked(lambda: now[0])


def behind(seconds: float) -> str:
    return f"{seconds + MARGIN:.6f} seconds"


def test_take_begins_a_margin_before_the_last_look(looked: Looked, now: list[float]) -> None:
    looked.note("a", None, 100.0, found_all=True)
    now[0] = 100.1

    assert [looked.behind(queue) for queue in "ab"] == [behind(0.1), None]


def test_later_look_moves_the_place_but_not_its_end(looked: Looked, now: list[float]) -> None:
    looked.note("a", None, 100.0, found_all=True)
    looked.note("a", behind(0.1), 100.1, found_all=True)
    now[0] = 100.0 + SECONDS
    last = looked.behind("a")
    now[0] += 0.001

    assert last == behind(now[0] - 0.001 - 100.1)
    assert looked.behind("a") is None


def test_take_that_leaves_jobs_moves_no_place(looked: Looked, now: list[float]) -> None:
    looked.note("a", None, 100.0, found_all=True)
    looked.note("a", behind(0.1), 100.1, found_all=False)
    now[0] = 100.1

    assert looked.behind("a") == behind(0.1)


def test_take_from_the_beginning_that_leaves_jobs_ends_the_place(looked: Looked) -> None:
    looked.note("a", None, 100.0, found_all=True)
    looked.note("a", None, 100.0, found_all=False)

    assert looked.behind("a") is None


def test_looks_of_many_queues_are_forgotten(looked: Looked) -> None:
    for number in range(MOST_QUEUES + 1):
        looked.note(str(number), None, 100.0, found_all=True)

    found = [looked.behind(str(number)) is not None for number in range(MOST_QUEUES + 1)]
    assert found == [False] * MOST_QUEUES + [True]
