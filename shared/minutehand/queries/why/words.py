"""Parts of sentences: times, places in the line, and counts."""

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from minutehand.model.display import span
from minutehand.model.row import Row
from minutehand.queries.why.evidence import COUNTED, Evidence


def place(known: Evidence) -> str:
    """Return how many jobs are before a due job, and how long they take; empty if there are none."""
    line = known.line
    if line is None or not line.ahead:
        return ""
    jobs = (
        f"{'at least ' if line.ahead >= COUNTED else ''}{line.ahead} {'job' if line.ahead == 1 else 'jobs'}"
    )
    pace = f", which take about {span(line.estimate)} at the pace of the last hour" if line.estimate else ""
    return f" behind {jobs} of its queue{pace}"


def storm(known: Evidence) -> str:
    """Return which jobs of the queue fail again and again; empty if there are few."""
    failing = known.failing
    if failing is None:
        return ""
    return f"; {failing.jobs} jobs of kind {failing.kind} have failed and are tried again ({failing.type})"


def attempts(count: int) -> str:
    """Return a count of attempts."""
    return "1 attempt" if count == 1 else f"{count} attempts"


def time_in(moment: datetime | None, zone: tzinfo) -> str:
    """Return a time in a time zone, or in its own if it is out of range there."""
    try:
        return f"{moment.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}" if moment else "an unknown time"
    except (OverflowError, ValueError):
        return f"{moment:%Y-%m-%d %H:%M:%S %Z}"


def zone_of(row: Row, zone: tzinfo | None) -> tzinfo:
    """Return the time zone of the job, else the given one, else UTC."""
    try:
        return ZoneInfo(row.zone) if row.zone else zone or UTC
    # A zone that this machine's time zone data lacks.
    except (ZoneInfoNotFoundError, ValueError):
        return zone or UTC
