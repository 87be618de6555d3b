"""The limits and rates that a due job waits for."""

from collections.abc import Iterator, Sequence
from datetime import timedelta, tzinfo

from minutehand.model.control import SCOPE, Control
from minutehand.model.row import Row
from minutehand.queries.why.evidence import Evidence, Found
from minutehand.queries.why.words import place, time_in


def effective(controls: Sequence[Control], row: Row, name: str) -> tuple[Control, ...]:
    """Return the limits of a job that set `name`, without those that a limit of its group, key or tenant replaces."""
    setting = [each for each in controls if getattr(each, name) is not None]
    scopes = [_scope(each) for each in setting if not each.per]
    return tuple(each for each in setting if not each.per or _scope(each, row) not in scopes)


def _scope(control: Control, row: Row | None = None) -> dict[str, str]:
    """Return the names of a limit; of one per group, key or tenant, with that of the job."""
    names = {name: getattr(control, name) for name in SCOPE}
    return names | ({control.per: getattr(row, control.per)} if row else {})


def _limited(known: Evidence, _: tzinfo) -> Found | None:
    full = next((each for each in _limits(known) if (each.busy or 0) >= (each.limit or 0)), None)
    if full is None:
        return None
    evidence = {"limit": full.limit, "busy": full.busy, "scope": full.scope}
    if not full.per:
        reached = f"The limit of {full.limit} for {full.scope} is reached"
        sentence = f"{reached}: {full.busy} are offered or running{place(known)}."
        return "limited", sentence, "minutehand controls", evidence
    value = getattr(known.row, full.per)
    return (
        "limited",
        f"Its {full.per} runs {full.busy} of {full.limit} at once ({full.per} {value}; limit of {full.scope}).",
        f"to see them: minutehand ls --queue {known.row.queue} --state running; to see the limits: minutehand controls",
        evidence | {full.per: value},
    )


def _limits(known: Evidence) -> Iterator[Control]:
    yield from known.limits
    # Without a limit, a group runs one job at a time.
    if known.group and not any(each.per == "group" or each.group for each in known.limits):
        yield Control(per="group", limit=1, busy=known.group.busy)


def _rated(known: Evidence, zone: tzinfo) -> Found | None:
    used = [each for each in known.rates if each.free_at and each.free_at > known.now]
    if not used:
        return None
    # The job waits for all of them.
    last = max(used, key=lambda each: each.free_at or known.now)
    seconds = (last.period or timedelta()).total_seconds()
    return (
        "rate",
        f"The rate of {last.rate} starts in {seconds:g} s for {last.scope} is used up; "
        f"the next job starts at {time_in(last.free_at, zone)} at the earliest{place(known)}.",
        "minutehand controls",
        {
            "rate": last.rate,
            "period": seconds,
            "burst": last.burst,
            "scope": last.scope,
            "free_at": last.free_at,
        },
    )


LIMIT_REASONS = (_limited, _rated)
