"""The minute of an alarm, and what happens when Scheduler fails."""

import logging
from datetime import UTC, datetime, timedelta

import pytest

from minutehand.errors import AlarmError
from minutehand.waking.alarms import MOST, Alarms, minute_of

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
        # Too close to the minute: its alarm may have fired.
        (0, 56, 120),
        (59, 59, 120),
        (60, 57, 120),
    ],
)
def test_alarm_is_at_the_first_minute_that_is_certain_to_come(
    needed: float, now: float, minute: float
) -> None:
    assert minute_of(NOON + SECOND * needed, NOON + SECOND * now) == NOON + SECOND * minute


class Bell:
    """Records alarms, or fails."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.created: list[str] = []
        self.calls = 0

    def create(self, name: str, minute: datetime) -> None:
        self.calls += 1
        if self.broken:
            raise AlarmError("no answer")
        self.created.append(name)

    def delete(self, name: str) -> None:
        self.created.remove(name)


def test_alarm_of_a_minute_is_requested_once_in_a_process() -> None:
    bell = Bell()
    alarms = Alarms(bell)
    for second in range(50):
        assert alarms.request([NOON], NOON + SECOND * second)

    assert bell.created == ["wake-2031-03-01T12-01"]


def test_bulk_requests_the_alarms_of_its_first_minutes() -> None:
    bell = Bell()
    Alarms(bell).request((NOON + timedelta(minutes=place) for place in range(100, 0, -1)), NOON)

    assert bell.created == [f"wake-2031-03-01T12-{minute:02}" for minute in range(1, MOST + 1)]


def test_alarm_beyond_a_year_is_left_to_later_ticks() -> None:
    bell = Bell()

    assert Alarms(bell).request([datetime(9998, 1, 1, tzinfo=UTC)], NOON)
    assert bell.created == []


def test_failure_is_logged_and_the_next_requests_do_not_wait(caplog: pytest.LogCaptureFixture) -> None:
    bell = Bell(broken=True)
    alarms = Alarms(bell)
    with caplog.at_level(logging.ERROR):
        assert not alarms.request([NOON], NOON)
        assert not alarms.request([NOON], NOON)

    assert bell.calls == 1
    assert "the alarm wake-2031-03-01T12-01 was not created" in caplog.text


def test_watches_have_names_of_their_own() -> None:
    bell = Bell()
    alarms = Alarms(bell)
    first, second = alarms.watch(NOON, NOON), alarms.watch(NOON, NOON)
    assert first
    assert second
    alarms.delete([first[0]])

    assert bell.created == [second[0]]
    assert first[1] == second[1] == NOON + SECOND * 60
