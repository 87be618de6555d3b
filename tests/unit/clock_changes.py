"""Changes of the clocks in awkward time zones, and what wall clocks show around them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from minutehand.model.recurrence import next_after

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


# The clocks: ordinary ones, half an hour (Lord Howe), 45 minutes off (Chatham), Ramadan (Casablanca), changes at
# midnight (Santiago, Beirut, Cairo, Asuncion), at different days (Jerusalem), backwards (Dublin), two hours (Troll), a
# change of the law (Sao Paulo, Volgograd, Apia), and those that never change.
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
    """Every second at which a zone's clocks are changed, found by another way than the code's."""
    clocks, found = ZoneInfo(zone), []
    hours = int((last - first) / HOUR)
    offsets = [(first + n * HOUR).astimezone(clocks).utcoffset() for n in range(hours)]
    for n in (n for n in range(1, hours) if offsets[n] != offsets[n - 1]):
        begin = first + (n - 1) * HOUR
        found.append(
            next(
                begin + timedelta(minutes=m)
                for m in range(1, 61)
                if (begin + timedelta(minutes=m)).astimezone(clocks).utcoffset() != offsets[n - 1]
            )
        )
    return tuple(found)


ALL = [(zone, change) for zone in ZONES for change in changes(zone)]


LOST_DAY = ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC))


ALL.append(LOST_DAY)


def minutes(begin: datetime, end: datetime) -> Iterator[datetime]:
    while begin < end:
        yield begin
        begin += timedelta(minutes=1)


def fired(every: str, zone: str, begin: datetime, end: datetime) -> list[datetime]:
    """All moments after `begin` and before `end`."""
    found, moment = [], begin
    while (moment := next_after(every, zone, moment)) < end:  # type: ignore[assignment,operator]
        found.append(moment)
    return found


def walls(zone: str, begin: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Every minute with what the wall clock shows then."""
    clocks = ZoneInfo(zone)
    return [(m, m.astimezone(clocks).replace(tzinfo=None)) for m in minutes(begin, end)]


def expected_by_name(wall: datetime, shown: list[tuple[datetime, datetime]]) -> datetime:
    """The rule in its simplest form: the first minute that shows the time, or a later time of a day that jumped."""
    return next(moment for moment, at in shown if at >= wall)
