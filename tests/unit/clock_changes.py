"""DST changes in awkward time zones, and the wall clock times around them."""

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from minutehand.model.recurrence import next_after
from tests.thorough import amount

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# Regular DST, half an hour (Lord Howe), 45 minutes off (Chatham), Ramadan (Casablanca), changes at
# midnight (Santiago, Beirut, Cairo, Asuncion), on other days (Jerusalem), negative DST (Dublin), two hours (Troll),
# changed laws (Sao Paulo, Volgograd, Apia), and zones without DST.
ZONES = [
    "America/Los_Angeles",
    "America/Phoenix",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Europe/Berlin",
    "America/Sao_Paulo",
    "America/Santiago",
    "Asia/Beirut",
    "Africa/Cairo",
    "America/Asuncion",
    "Asia/Jerusalem",
    "Europe/Dublin",
    "Antarctica/Troll",
    "Europe/Volgograd",
    "America/Scoresbysund",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "UTC",
]
FIRST, LAST = datetime(2020, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)


@cache
def changes(zone: str, first: datetime = FIRST, last: datetime = LAST) -> tuple[datetime, ...]:
    """Return every clock change of a zone, at most one a day, found independently of the code under test."""
    clocks = ZoneInfo(zone)
    days = [(first + n * DAY).astimezone(clocks) for n in range((last - first) // DAY + 1)]
    changed = (n for n in range(len(days) - 1) if days[n].utcoffset() != days[n + 1].utcoffset())
    return tuple(first_change(clocks, first + n * DAY) for n in changed)


def first_change(clocks: ZoneInfo, begin: datetime) -> datetime:
    """Return the first minute of the 24 hours after `begin` that has another offset; the last minute has it too."""
    before = begin.astimezone(clocks).utcoffset()
    after = bisect_left(
        range(DAY // MINUTE),
        True,
        key=lambda n: (begin + (n + 1) * MINUTE).astimezone(clocks).utcoffset() != before,
    )
    return begin + (after + 1) * MINUTE


ALL = [(zone, change) for zone in ZONES for change in changes(zone)]
LOST_DAY = ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC))


ALL.append(LOST_DAY)
# Of every zone, with changes in both directions.
SOME = [(zone, change) for zone in ZONES for change in changes(zone)[:: amount(5, 1)]]
SOME.append(LOST_DAY)


def minutes(begin: datetime, end: datetime) -> Iterator[datetime]:
    while begin < end:
        yield begin
        begin += timedelta(minutes=1)


def fired(every: str, zone: str, begin: datetime, end: datetime) -> list[datetime]:
    """Return all occurrences after `begin` and before `end`."""
    found, moment = [], begin
    while (moment := next_after(every, zone, moment)) < end:  # type: ignore[assignment,operator]
        found.append(moment)
    return found


def walls(zone: str, begin: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Return every minute with its wall clock time."""
    clocks = ZoneInfo(zone)
    return [(m, m.astimezone(clocks).replace(tzinfo=None)) for m in minutes(begin, end)]


def expected_by_name(wall: datetime, shown: list[tuple[datetime, datetime]]) -> datetime:
    """Return the first minute whose wall clock shows `wall`, or a later time if `wall` is skipped."""
    return next(moment for moment, at in shown if at >= wall)
