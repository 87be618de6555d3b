"""The terms of a load: how its rows are entered, and the checks on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from minutehand_pipeline.errors import InputError, LoadError
from minutehand_pipeline.queue.location import LOCATIONS

WRITE_OPTIONS = ("load", "on_conflict", "rate", "over", "start", "run", "max_rejects", *LOCATIONS)
CONFLICTS = ("replace", "ignore", "raise")
# Jobs per second. Two jobs with the same time would have no order.
MAX_RATE = 1_000_000
END = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Terms:
    """How a load is entered.

    `load` is its permanent name. `run` is the id of this run; a caller that passes it must end the run, and can read
    the rejected rows until then. `rate` is in jobs per second; `over` is the time over which all jobs are spread.
    """

    load: str
    on_conflict: str = "replace"
    run: str | None = None
    max_rejects: int | None = None
    start: datetime | None = None
    rate: float | None = None
    over: timedelta | None = None


def read_terms(options: Mapping[str, str]) -> Terms:
    """Read the data source's write options. Raises InputError."""
    if unknown := sorted(set(options) - set(WRITE_OPTIONS)):
        raise InputError(f"unknown write option {unknown[0]!r}; expected one of {', '.join(WRITE_OPTIONS)}")
    if not options.get("load"):
        raise InputError("option load is missing: name the load, so that a second run of it is recognized")
    check_conflict(conflict := options.get("on_conflict", "replace"))
    rate, over = _number(options, "rate"), _number(options, "over")
    max_rejects, duration = _number(options, "max_rejects"), None if over is None else timedelta(seconds=over)
    start = _start(options)
    check_spread(rate, duration, start)
    limit = None if max_rejects is None else int(max_rejects)
    return Terms(options["load"], conflict, options.get("run"), limit, start, rate, duration)


def check_conflict(value: str) -> None:
    """Raise InputError unless `on_conflict` has one of its values."""
    if value not in CONFLICTS:
        raise InputError(f"on_conflict must be one of {', '.join(CONFLICTS)}, got {value!r}")


def check_rejects(rejected: int, limit: int | None) -> None:
    """Raise LoadError if more rows were rejected than allowed."""
    if limit is not None and rejected > limit:
        raise LoadError(
            f"{rejected} rows were rejected, but at most {limit} are allowed: nothing was enqueued"
        )


def check_spread(rate: float | None, over: timedelta | None, start: datetime | None) -> None:
    """Raise InputError for a rate or a duration out of range, or if a job would be due after the year 9998."""
    if rate is not None and over is not None:
        raise InputError("expected rate or over, got both")
    if rate is not None and not 0 < rate <= MAX_RATE:
        raise InputError("rate must be above 0 and at most 1,000,000 jobs per second")
    if over is not None and over <= timedelta():
        raise InputError("over must be a duration above 0")
    now = datetime.now(UTC)
    seconds = 1 / rate if rate is not None else over.total_seconds() if over is not None else 0
    if seconds > (END - max(start or now, now)).total_seconds():
        raise InputError(
            "the last job would be due after the year 9998: pass a higher rate or a shorter over"
        )


def _number(options: Mapping[str, str], name: str) -> float | None:
    text = options.get(name)
    try:
        number = None if text is None else float(text)
    except ValueError:
        raise InputError(f"{name} must be a number, got {text!r}") from None
    if number is not None and not 0 <= number < 1e12:
        raise InputError(f"{name} must be a finite number of 0 or more, got {text!r}")
    return number


def _start(options: Mapping[str, str]) -> datetime | None:
    text = options.get("start")
    try:
        start = None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"start must be an ISO 8601 time with an offset, such as 2026-03-01T08:00:00+01:00, got {text!r}"
        ) from None
    if start is not None and start.utcoffset() is None:
        raise InputError(f"start has no offset; add one, such as {text}Z")
    return start
