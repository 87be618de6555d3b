"""Display: what the command line and pages show of a stored job."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from minutehand.model.row import Row

ERROR_CHARACTERS = 100
UNITS = [("y", 365 * 86400), ("d", 86400), ("h", 3600), ("min", 60), ("s", 1)]


def safe(text: str) -> str:
    """Escape the characters that are not printable, which could control a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def when(row: Row) -> datetime:
    """Return the time of a job's state: when it finished, started, was offered, or may run at the earliest."""
    moments = {"offered": row.offered, "running": row.claimed}
    return row.deleted or moments.get(row.state) or (row.run_at if row.waits else row.visible)


def error_line(error: Mapping[str, str], longest: int | None = ERROR_CHARACTERS) -> str:
    """Return an error's type and the first line of its message, shortened unless `longest` is None."""
    message = str(error.get("message", "")).strip().partition("\n")[0]
    kind = "" if error.get("type") in (None, "Cancelled", "Expired", "Superseded") else f"{error['type']}: "
    line = safe(f"{kind}{message}")
    return line if longest is None or len(line) <= longest else line[: longest - 1] + "…"


def took(duration: timedelta) -> str:
    """Return how long something took: in milliseconds if it was less than a second."""
    milliseconds = round(duration.total_seconds() * 1000)
    return f"{milliseconds} ms" if milliseconds < 1000 else span(duration)


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
