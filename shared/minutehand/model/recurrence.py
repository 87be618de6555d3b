"""Recurrence: the next time of a cron expression or an ISO 8601 duration, in a time zone.

Clock changes follow Debian's cron. An expression with a fixed hour and minute keeps them: a time that does not exist
becomes the first one after the gap, and a time that exists twice matches the first time only. An expression with a star
in its minute or hour follows elapsed time: it matches whenever the wall clock shows a matching time.

The years, months, weeks and days of a duration are calendar units; its hours, minutes and seconds are elapsed time.
Across a clock change P1D takes 23 or 25 hours, PT24H never does. All are counted from one anchor, so that P1M from
May 31 gives June 30 and then July 31.
"""

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING

from minutehand.errors import InvalidJobError
from minutehand.model.calendar import END
from minutehand.model.rules import sentence
from minutehand.model.zones import zone_of

if TYPE_CHECKING:
    from isodate import Duration

REBOOT = "@reboot"
# Characters.
MAX_EVERY = 200
NAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * sun",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
# The mean month.
MONTH = timedelta(days=30.436875)


def next_after(
    every: str, zone: str | None, after: datetime, *, anchor: datetime | None = None
) -> datetime | None:
    """Return the first time of a recurrence after `after`, in UTC; None if there is none.

    A duration counts from `anchor`, or from `after` without one. Cron expressions need no anchor.
    """
    clocks, after = zone_of(zone), after.astimezone(UTC)
    try:
        if is_duration(every):
            found: datetime | None = _next_of_duration(
                every, clocks, after, (anchor or after).astimezone(UTC)
            )
        else:
            found = _next_of_cron(every, clocks, after)
    except InvalidJobError:
        raise
    # The result would lie in the year 10000.
    except (ArithmeticError, ValueError):
        return None
    return None if found is None or found >= END else found


def check(every: object, zone: object) -> None:
    """Raise InvalidJobError for an invalid recurrence (`every_recurs`) or an unknown zone (`zone_is_known`)."""
    if not isinstance(every, str):
        raise InvalidJobError("every_recurs", f"{sentence('every_recurs')}, got {type(every).__name__}")
    if len(every) > MAX_EVERY:
        raise InvalidJobError("every_fits", f"{sentence('every_fits')}, got {len(every)}")
    if zone is not None and not isinstance(zone, str):
        raise InvalidJobError("zone_is_known", f"{sentence('zone_is_known')}, got {type(zone).__name__}")
    if next_after(every, zone, LONG_AGO) is None:
        raise InvalidJobError("every_recurs", f"{every[:80]!r} never occurs")


def is_duration(every: str) -> bool:
    """Return whether this is an ISO 8601 duration, which counts from an anchor."""
    return every.startswith("P")


def _next_of_cron(every: str, clocks: tzinfo, after: datetime) -> datetime | None:
    expression = NAMES.get(every.lower(), every)
    minute, hour = _fields(expression)[-5:-3]
    if clocks is UTC or not (minute.startswith("*") or hour.startswith("*")):
        return _next_by_name(expression, clocks, after)
    return _next_by_real_time(expression, clocks, after)


def _next_by_name(expression: str, clocks: tzinfo, after: datetime) -> datetime | None:
    """Return the next time of an expression with a fixed hour and minute."""
    wall: datetime | None = after.astimezone(clocks).replace(tzinfo=None)
    while wall is not None:
        wall = _next_on_wall(expression, wall)
        # A time that exists twice may lie before `after`: it stands for the first.
        if wall is not None and (moment := _moment(wall, clocks)) > after:
            return moment
    return None


def _next_by_real_time(expression: str, clocks: tzinfo, after: datetime) -> datetime | None:
    """Return the next time whose wall clock matches: either of two, and none in a gap."""
    begin = after.replace(microsecond=0) + SECOND
    while True:
        offset = _offset(begin, clocks)
        wall = _next_on_wall(expression, (begin + offset).replace(tzinfo=None) - SECOND)
        if wall is None:
            return None
        moment = wall.replace(tzinfo=UTC) - offset
        change = _change(begin, moment, clocks)
        if change is None:
            return moment
        begin = change


def _next_on_wall(expression: str, wall: datetime) -> datetime | None:
    """Return the next match on a clock without changes."""
    from cronsim import CronSim

    return next(CronSim(expression, wall), None)


@lru_cache(maxsize=256)
def _fields(expression: str) -> tuple[str, ...]:
    """Return the fields of a valid cron expression."""
    from cronsim import CronSim, CronSimError

    if expression == REBOOT:
        raise InvalidJobError(
            "every_recurs", f"{REBOOT} works only in schedules that are installed from code"
        )
    try:
        CronSim(expression, datetime(2000, 1, 1))
    except (CronSimError, ValueError) as error:
        message = f"{sentence('every_recurs')}, got {expression[:80]!r} ({error})"
        raise InvalidJobError("every_recurs", message) from None
    return tuple(expression.split())


def _next_of_duration(every: str, clocks: tzinfo, after: datetime, anchor: datetime) -> datetime:
    """Return the first of anchor, anchor + 1 * duration, anchor + 2 * duration, ... after `after`."""
    calendar, clock = _duration(every)
    if anchor > after:
        return anchor
    start = anchor.astimezone(clocks).replace(tzinfo=None)

    def at(count: int) -> datetime:
        wall = start + calendar * count
        return (anchor if wall == start else _moment(wall, clocks)) + clock * count

    months = int(calendar.years * 12 + calendar.months)
    count = max(1, (after - anchor) // (MONTH * months + calendar.tdelta + clock))
    while count > 1 and at(count - 1) > after:
        count -= 1
    while at(count) <= after:
        count += 1
    return at(count)


@lru_cache(maxsize=256)
def _duration(every: str) -> "tuple[Duration, timedelta]":
    """Return the calendar part and the elapsed-time part of an ISO 8601 duration."""
    from isodate import Duration, parse_duration

    date, mark, time = every.partition("T")
    try:
        calendar = Duration() if date == "P" else parse_duration(date, as_timedelta_if_possible=False)
        clock = parse_duration(f"PT{time}") if mark else timedelta()
        months = calendar.years * 12 + calendar.months
        if months % 1 or calendar.tdelta % DAY or not (months or calendar.tdelta + clock >= SECOND):
            raise ValueError("the number of days must be an integer, and the interval at least one second")
    except (ValueError, ArithmeticError, AttributeError) as error:
        message = f"{sentence('every_recurs')}, got {every[:80]!r} ({error})"
        raise InvalidJobError("every_recurs", message) from None
    return calendar, clock


def _moment(wall: datetime, clocks: tzinfo) -> datetime:
    """Return the time of a wall clock: the first of two, and the end of the gap if there is none."""
    moment = wall.replace(tzinfo=clocks).astimezone(UTC)
    if moment.astimezone(clocks).replace(tzinfo=None) == wall:
        return moment
    before = wall.replace(tzinfo=clocks, fold=1).astimezone(UTC)
    return _change(before, moment, clocks) or moment


def _change(begin: datetime, end: datetime, clocks: tzinfo) -> datetime | None:
    """Return the first clock change after `begin` and up to `end`."""
    offset = _offset(begin, clocks)
    step, end = begin.replace(microsecond=0), end.replace(microsecond=0)
    # Day by day, since two changes may cancel each other out.
    while step < end:
        last, step = step, min(step + DAY, end)
        if _offset(step, clocks) != offset:
            return _bisect(last, step, clocks)
    return None


def _bisect(begin: datetime, end: datetime, clocks: tzinfo) -> datetime:
    offset = _offset(begin, clocks)
    while end - begin > SECOND:
        middle = begin + (end - begin) // (2 * SECOND) * SECOND
        begin, end = (middle, end) if _offset(middle, clocks) == offset else (begin, middle)
    return end


def _offset(moment: datetime, clocks: tzinfo) -> timedelta:
    return moment.astimezone(clocks).utcoffset() or timedelta()
