"""Display: what the command line and pages show of a stored job."""

from collections.abc import Mapping
from datetime import datetime

from minutehand.model.row import Row

ERROR_CHARACTERS = 100


def safe(text: str) -> str:
    """Escape the characters that are not printable, which could control a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def when(row: Row) -> datetime:
    """Return the time of a job's state: when it finished, started, was offered, or may run."""
    moments = {"offered": row.offered, "running": row.claimed}
    return row.deleted or moments.get(row.state) or row.visible


def error_line(error: Mapping[str, str]) -> str:
    """Return an error's type and the first line of its message."""
    message = str(error.get("message", "")).strip().partition("\n")[0]
    kind = "" if error.get("type") in (None, "Cancelled", "Expired", "Superseded") else f"{error['type']}: "
    line = safe(f"{kind}{message}")
    return line if len(line) <= ERROR_CHARACTERS else line[: ERROR_CHARACTERS - 1] + "…"
