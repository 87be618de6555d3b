"""The minute of a wake-up, and what happens when Scheduler fails."""

import logging
from datetime import UTC, datetime, timedelta

import pytest

from minutehand.errors import WakeupError
from minutehand.waking.wakeups import MOST, Wakeups, minute_of

NOON = datetime(2031, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("needed", "now", "minute"),
    [
        (60, 0, 60),
        (61, 0, 120),
        (59.9, 0, 60),
        # Jobs of one call are microseconds apart.
        (60.05, 0, 60),
        # Due now, at any second of the minute: never in a minute that has begun.
        (0, 0, 60),
        (0, 0.5, 60),
        (-3600, 54, 60),
        # Too close to the minute: its wake-up may have fired.
        (0, 56, 120),
        (59, 59, 120),
        (60, 57, 120),
    ],
)
def test_wakeup_is_at_the_first_minute_that_is_certain_to_come(
    needed: float, now: float, minute: float
) -> None:
    assert minute_of(NOON + SECOND * needed, NOON + SECOND * now) == NOON + SECOND * minute


class Bell:
    """Records wake-ups, or fails."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.created: list[str] = []
        self.calls = 0

    def create(self, name: str, minute: datetime) -> None:
        self.calls += 1
        if self.broken:
            raise WakeupError("no answer")
        self.created.append(name)

    def delete(self, name: str) -> None:
        self.created.remove(name)


def test_wakeup_of_a_minute_is_requested_once_in_a_process() -> None:
    bell = Bell()
    wakeups = Wakeups(bell)
    for second in range(50):
        assert wakeups.request([NOON], NOON + SECOND * second)

    assert bell.created == ["wake-2031-03-01T12-01"]


def test_bulk_requests_the_wakeups_of_its_first_minutes() -> None:
    bell = Bell()
    Wakeups(bell).request((NOON + timedelta(minutes=place) for place in range(100, 0, -1)), NOON)

    assert bell.created == [f"wake-2031-03-01T12-{minute:02}" for minute in range(1, MOST + 1)]


def test_wakeup_beyond_a_year_is_left_to_later_ticks() -> None:
    bell = Bell()

    assert Wakeups(bell).request([datetime(9998, 1, 1, tzinfo=UTC)], NOON)
    assert bell.created == []


def test_failure_is_logged_and_the_next_requests_do_not_wait(caplog: pytest.LogCaptureFixture) -> None:
    bell = Bell(broken=True)
    wakeups = Wakeups(bell)
    with caplog.at_level(logging.ERROR):
        assert not wakeups.request([NOON], NOON)
        assert not wakeups.request([NOON], NOON)

    assert bell.calls == 1
    assert "the wake-up wake-2031-03-01T12-01 was not created" in caplog.text


def test_watches_have_names_of_their_own() -> None:
    bell = Bell()
    wakeups = Wakeups(bell)
    first, second = wakeups.watch(NOON, NOON), wakeups.watch(NOON, NOON)
    assert first
    assert second
    wakeups.delete([first[0]])

    assert bell.created == [second[0]]
    assert first[1] == second[1] == NOON + SECOND * 60
