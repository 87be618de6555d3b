"""Jobs in words: their states as a person would say them, moments and durations as people write them."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from minutehand.queries.jobs import Row

UNITS = [("y", 365 * 86400), ("d", 86400), ("h", 3600), ("min", 60), ("s", 1)]
ERROR_CHARACTERS = 100


def safe(text: str) -> str:
    """Return text that does nothing to a terminal: what is not printable is escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def span(duration: timedelta) -> str:
    """Return a duration in its two largest units."""
    seconds = round(abs(duration).total_seconds())
    if seconds < 1:
        return "a moment"
    place = next(place for place, (_, size) in enumerate(UNITS) if seconds >= size)
    parts = []
    for name, size in UNITS[place : place + 2]:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts)


def ago(moment: datetime, now: datetime) -> str:
    """Return how far from now a moment is."""
    return f"in {span(moment - now)}" if moment > now else f"{span(now - moment)} ago"


def local(moment: datetime) -> str:
    """Return a moment in this machine's zone, which is named; in its own where this one has no such year."""
    try:
        return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}"
    except OverflowError:
        return f"{moment:%Y-%m-%d %H:%M:%S %Z}"


def state(row: Row, now: datetime) -> str:
    """Return what a person would say of the job."""
    nth = f" ({row.attempts + 1} of {row.max_attempts})"
    match row.state:
        case "scheduled":
            return f"due in {span(row.visible - now)}{_because(row)}"
        case "due" if row.claimed:
            return f"due for {span(now - row.visible)}: its worker went silent"
        case "due":
            return f"due for {span(now - row.visible)}{nth if row.attempts else ''}{_because(row)}"
        case "offered":
            return f"offered {_since(row.offered, now)} ago"
        case "running":
            again = f" ({row.attempts} of {row.max_attempts})" if row.attempts > 1 else ""
            asked = "" if row.cancelling is None else f", and was asked to end: {row.cancelling}"
            return f"runs for {_since(row.claimed, now)}{again}{asked}"
        case "retrying":
            return f"retries in {span(row.visible - now)}{nth}{_because(row)}"
        case "done":
            return f"done {_since(row.deleted, now)} ago"
        case "dead" | "cancelled":
            return f"{row.state} {_since(row.deleted, now)} ago{_because(row)}"


def when(row: Row) -> datetime:
    """Return the moment that matters in the job's state: when it ended, began, was offered, or may run."""
    moments = {"offered": row.offered, "running": row.claimed}
    return row.deleted or moments.get(row.state) or row.visible


def error_line(error: Mapping[str, str]) -> str:
    """Return an error's type and the first line of its message."""
    message = str(error.get("message", "")).strip().partition("\n")[0]
    kind = "" if error.get("type") in (None, "Cancelled", "Superseded") else f"{error['type']}: "
    line = safe(f"{kind}{message}")
    return line if len(line) <= ERROR_CHARACTERS else line[: ERROR_CHARACTERS - 1] + "…"


def jobs(count: int) -> str:
    """Return a count of jobs."""
    return "1 job" if count == 1 else f"{count} jobs"


def _because(row: Row) -> str:
    return f": {error_line(row.error)}" if row.error else ""


def _since(moment: datetime | None, now: datetime) -> str:
    return span(now - moment) if moment else "a moment"
