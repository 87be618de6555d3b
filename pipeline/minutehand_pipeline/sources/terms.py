"""The options of writing to the queue, as terms of a load."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.sources.place import PLACES
from minutehand_pipeline.sources.writing import Terms, check_terms

WRITING = ("load", "on_conflict", "rate", "over", "start", "run", "most_rejects", *PLACES)
CONFLICTS = ("replace", "ignore", "raise")


def terms_of(options: Mapping[str, str]) -> Terms:
    """Read the options of writing; raise InputError for what makes no sense."""
    if unknown := sorted(set(options) - set(WRITING)):
        raise InputError(f"no option of writing is called {unknown[0]!r}; they are {', '.join(WRITING)}")
    if not options.get("load"):
        raise InputError("name the load, by which a second run of it is known: option load")
    if (conflict := options.get("on_conflict", "replace")) not in CONFLICTS:
        raise InputError(f"on_conflict of a load must be {', '.join(CONFLICTS)}; this is {conflict!r}")
    rate, over = _number(options, "rate"), _number(options, "over")
    most, time = _number(options, "most_rejects"), None if over is None else timedelta(seconds=over)
    starts = _start(options)
    check_terms(rate, time, starts)
    return Terms(
        options["load"], conflict, options.get("run"), None if most is None else int(most), starts, rate, time
    )


def _number(options: Mapping[str, str], name: str) -> float | None:
    said = options.get(name)
    try:
        number = None if said is None else float(said)
    except ValueError:
        raise InputError(f"{name} is a number; this is {said!r}") from None
    if number is not None and not 0 <= number < 1e12:
        raise InputError(f"{name} is a number, neither negative nor endless; this is {said!r}")
    return number


def _start(options: Mapping[str, str]) -> datetime | None:
    said = options.get("start")
    try:
        start = None if said is None else datetime.fromisoformat(said)
    except ValueError:
        raise InputError(
            f"start is ISO 8601 with an offset, as 2026-03-01T08:00:00+01:00; this is {said!r}"
        ) from None
    if start is not None and start.utcoffset() is None:
        raise InputError(f"start has no offset; add one, as {said}Z")
    return start
