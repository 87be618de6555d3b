"""Jobs in words: states, times and durations as people write them."""

from collections.abc import Mapping
from datetime import datetime

from minutehand.cli.streams import is_terminal
from minutehand.model import display
from minutehand.model.display import safe as safe
from minutehand.model.display import span as span
from minutehand.model.display import took as took
from minutehand.model.display import when as when
from minutehand.model.retry import Retry
from minutehand.model.row import Row

# Failures that left the job done.
STAGES = {"result": ", result dropped", "after": ", failed after its transaction"}


def ago(moment: datetime, now: datetime) -> str:
    """Return the distance of a time from now."""
    return f"in {span(moment - now)}" if moment > now else f"{span(now - moment)} ago"


def local(moment: datetime) -> str:
    """Return a time in the local time zone, or in its own if it is out of range there."""
    try:
        return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}"
    # The last two: the platform's functions do not know the year.
    except (OverflowError, ValueError, OSError):
        return f"{moment:%Y-%m-%d %H:%M:%S %Z}"


def state(row: Row, now: datetime) -> str:
    """Return a job's state, with its time, attempts and error."""
    following = f" ({row.attempts + 1} of {row.max_attempts})"
    match row.state:
        case "scheduled" if row.waits:
            return "waits for other jobs"
        case "scheduled":
            return f"due in {span(row.visible - now)}{_error(row)}"
        case "due" if row.claimed:
            return f"due for {span(now - row.visible)}: its worker stopped responding"
        case "due":
            return f"due for {span(now - row.visible)}{following if row.attempts else ''}{_error(row)}"
        case "offered":
            return f"offered {_since(row.offered, now)} ago"
        case "running":
            attempt = f" ({row.attempts} of {row.max_attempts})" if row.attempts > 1 else ""
            ending = "" if row.cancelling is None else f", cancellation requested: {row.cancelling}"
            return f"running for {_since(row.claimed, now)}{attempt}{ending}"
        case "retrying":
            return f"retries in {span(row.visible - now)}{following}{_error(row)}"
        case "done":
            problem = STAGES.get(row.stage or "", "")
            return f"done {_since(row.deleted, now)} ago{problem}{_error(row) if problem else ''}"
        case "dead" | "expired" | "cancelled":
            return f"{row.state} {_since(row.deleted, now)} ago{_error(row)}"


def error_line(error: Mapping[str, str]) -> str:
    """Return an error's type and the first line of its message; on a terminal, at most 100 characters of them."""
    return display.error_line(error, display.ERROR_CHARACTERS if is_terminal() else None)


def jobs(count: int) -> str:
    """Return a count of jobs."""
    return "1 job" if count == 1 else f"{count} jobs"


def retry(policy: Retry) -> str:
    """Return a retry policy in words."""
    jitter = "with jitter" if policy.jitter else "without jitter"
    if policy.strategy == "fixed":
        return f"fixed, after {span(policy.min)}, {jitter}"
    growth = f"from {span(policy.min)} to {span(policy.max)}, factor {policy.factor:g}"
    return f"{policy.strategy} {growth}, {jitter}"


def _error(row: Row) -> str:
    return f": {error_line(row.error)}" if row.error else ""


def _since(moment: datetime | None, now: datetime) -> str:
    return span(now - moment) if moment else "a moment"
