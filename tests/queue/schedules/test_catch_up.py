"""After an outage, missed occurrences are caught up within bounds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import schedules
from minutehand.schedules.fire import LEDGER_DAYS, Fired, fire_due, prune
from minutehand.schedules.plan import GRACE, REACH
from tests.queue.schedules.stage import DAY, HOUR, MINUTE, NOON, firings, jobs, nominals, save
from tests.queue.stage import Queue


# After an outage of ten hours, nine occurrences were missed and one is due now.
@pytest.mark.parametrize(
    ("catch_up", "hours", "missed"),
    [
        ({"catch_up": "none"}, [10], 9),
        ({"catch_up": "last"}, [10], 9),
        ({"catch_up": "all"}, range(1, 11), 0),
        ({"catch_up": "all", "max_catch_up": 3}, [7, 8, 9, 10], 6),
    ],
    ids=str,
)
def test_catch_up_after_an_outage_that_ends_on_an_occurrence(
    queue: Queue, catch_up: dict[str, Any], hours: list[int], missed: int
) -> None:
    save(queue, **catch_up)

    fired = fire_due(queue.database, NOON + 10 * HOUR)

    assert nominals(queue) == [NOON + hour * HOUR for hour in hours]
    assert fired == Fired(fired=len(hours), missed=missed)
    assert ([(NOON + HOUR, "missed", missed)] if missed else []) == [
        each for each in firings(queue) if each[1] == "missed"
    ]
    assert schedules.get(queue.database, "hourly").next == NOON + 11 * HOUR


@pytest.mark.parametrize(
    ("catch_up", "hours", "missed"),
    [
        ({"catch_up": "none"}, [], 10),
        ({"catch_up": "last"}, [10], 9),
        ({"catch_up": "all", "max_catch_up": 2}, [9, 10], 8),
    ],
    ids=str,
)
def test_catch_up_after_an_outage_that_ends_between_occurrences(
    queue: Queue, catch_up: dict[str, Any], hours: list[int], missed: int
) -> None:
    save(queue, **catch_up)

    fired = fire_due(queue.database, NOON + 10 * HOUR + GRACE + MINUTE)

    assert nominals(queue) == [NOON + hour * HOUR for hour in hours]
    assert fired == Fired(fired=len(hours), missed=missed)
    assert [job["headers"] for job in jobs(queue)] == [{"minutehand-late": "true"}] * len(hours)


# Each has many occurrences at once, and a long time without any.
@pytest.mark.parametrize(
    ("every", "last"),
    [
        ("* 9-17 * * *", NOON + 5 * HOUR + 59 * MINUTE),
        ("* * 9-17 * * *", NOON + 6 * HOUR - timedelta(seconds=1)),
    ],
)
def test_only_the_last_of_many_missed_occurrences_is_caught_up(
    queue: Queue, every: str, last: datetime
) -> None:
    save(queue, every, catch_up="last")

    for _ in range(2):
        fire_due(queue.database, NOON + 19 * HOUR)

    assert nominals(queue) == [last]


def test_occurrence_a_few_minutes_late_is_not_missed(queue: Queue) -> None:
    save(queue, "* * * * *")

    # The first is exactly as late as is allowed.
    assert fire_due(queue.database, NOON + MINUTE + GRACE) == Fired(fired=6)
    assert [job["headers"] for job in jobs(queue)] == [None] * 6


def test_catch_up_of_a_fast_schedule_is_bounded(queue: Queue) -> None:
    save(queue, "* * * * * *", catch_up="all", max_catch_up=1000)

    first = fire_due(queue.database, NOON + 365 * DAY)

    # The next ticks fire the rest.
    assert 1000 <= first.fired <= 1100
    rest = fire_due(queue.database, NOON + 365 * DAY)
    assert first.fired + rest.fired == 1000 + GRACE // timedelta(seconds=1) + 1
    assert fire_due(queue.database, NOON + 365 * DAY) == Fired()
    # Not counted beyond this.
    assert first.missed == 1000


def test_catch_up_does_not_reach_past_the_recorded_firings(queue: Queue) -> None:
    assert REACH < LEDGER_DAYS
    save(queue, "0 0 1 7 *", catch_up="last")

    fired = fire_due(queue.database, datetime(2030, 7, 1, tzinfo=UTC) + REACH + DAY)

    assert fired == Fired(missed=1)
    assert schedules.get(queue.database, "hourly").next == datetime(2031, 7, 1, tzinfo=UTC)


def test_firings_are_pruned_when_no_catch_up_needs_them(queue: Queue) -> None:
    save(queue)
    fire_due(queue.database, NOON + HOUR)
    fire_due(queue.database, NOON + 2 * HOUR)

    assert prune(queue.database, NOON + LEDGER_DAYS) == 0
    assert prune(queue.database, NOON + HOUR + LEDGER_DAYS + MINUTE) == 1
    assert firings(queue) == [(NOON + 2 * HOUR, "fired", 1)]
