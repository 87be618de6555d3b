"""Parts of sentences: times, places in the line, and counts."""

from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from minutehand.model.display import span, took
from minutehand.model.row import Row
from minutehand.queries.why.evidence import COUNTED, Evidence, Limited


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


def turn(known: Evidence) -> str:
    """Return the place of a due job among those of its queue under a limit."""
    limited = known.limited
    within = " within its queue" if limited and limited.spans_queues else ""
    if limited is None or not (limited.ahead or limited.is_cut):
        return f"the next in line{within}"
    return f"{'at least ' if limited.is_cut else ''}number {limited.ahead + 1} in line{within}"


def under_limit(known: Evidence, zone: tzinfo) -> tuple[str, dict[str, Any]]:
    """Return the place of a due job under a limit and when the limit has room, in words and as evidence."""
    limited = known.limited
    if limited is None:
        return "this one waits in line", {}
    evidence = {
        "ahead": limited.ahead,
        "next_free": limited.expected or limited.ends,
        "is_estimate": bool(limited.expected),
        "must_end": limited.must_end,
        "freed_by": limited.id and str(limited.id),
    }
    return f"this one is {turn(known)}{_free(limited, known.now, zone)}", evidence


def _free(limited: Limited, now: datetime, zone: tzinfo) -> str:
    """Return when the next place is free: an estimate from the last hour, else the end of a lease."""
    several = (limited.must_end or 1) > 1
    when = f"when {limited.must_end} jobs under the limit have ended" if several else ""
    if limited.expected and limited.median:
        jobs = f"{limited.jobs} {'job' if limited.jobs == 1 else 'jobs'} of kind {limited.kind}"
        return (
            f", and the next place is expected to be free in {span(limited.expected - now)}, at "
            f"{time_in(limited.expected, zone)}{when and f', {when}'} (an estimate: the median of {jobs} in the last "
            f"hour is {took(limited.median)})"
        )
    if limited.ends is None:
        return ""
    return (
        f", and the next place is free {when or 'when a job under the limit ends'}, or in "
        f"{span(limited.ends - now)}, at {time_in(limited.ends, zone)}, when {_end(limited, now)}"
    )


def _end(limited: Limited, now: datetime) -> str:
    job = f"{limited.kind} ({limited.id})"
    if limited.claimed is None:
        return f"the offer of {job} ends"
    return f"the lease of {job} ends; that job started {span(now - limited.claimed)} ago"


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
