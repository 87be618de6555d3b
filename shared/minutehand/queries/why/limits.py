"""The limits and rates that a due job waits for."""

from collections.abc import Iterator, Sequence
from datetime import timedelta, tzinfo

from minutehand.model.control import SCOPE, Control
from minutehand.model.row import Row
from minutehand.queries.commands import quoted
from minutehand.queries.why.evidence import Evidence, Found
from minutehand.queries.why.words import time_in, turn, under_limit

# A limit per group or key is of one queue and tenant.
WITHIN = {"group": ("queue", "tenant", "group"), "key": ("queue", "tenant", "key"), "tenant": ("tenant",)}


def effective(controls: Sequence[Control], row: Row, name: str) -> tuple[Control, ...]:
    """Return the limits of a job that set `name`, without those that a limit of its group, key or tenant replaces."""
    setting = [each for each in controls if getattr(each, name) is not None]
    scopes = [_scope(each) for each in setting if not each.per]
    return tuple(each for each in setting if not each.per or _scope(each, row) not in scopes)


def _scope(control: Control, row: Row | None = None) -> dict[str, str]:
    """Return the names of a limit; of one per group, key or tenant, with that of the job."""
    names = {name: getattr(control, name) for name in SCOPE}
    return names | ({control.per: getattr(row, control.per)} if row else {})


def reached(known: Evidence) -> Control | None:
    """Return the limit of running jobs, else the rate, that the job waits for; None if all have room."""
    return _full(known) or _used_up(known)


def _full(known: Evidence) -> Control | None:
    return next((each for each in _limits(known) if (each.busy or 0) >= (each.limit or 0)), None)


def _limited(known: Evidence, zone: tzinfo) -> Found | None:
    full = _full(known)
    if full is None:
        return None
    evidence = {"limit": full.limit, "busy": full.busy, "scope": full.scope}
    busy = f"{full.busy} {'job is' if full.busy == 1 else 'jobs are'} offered or running"
    reached = f"The limit of {full.limit} for {full.scope} is reached: {busy}"
    if full.per:
        value = getattr(known.row, full.per)
        reached = f"Its {full.per} runs {full.busy} of {full.limit} at once ({full.per} {value}; limit of {full.scope})"
        evidence |= {full.per: value}
    text, found = under_limit(known, zone)
    if not full.limit:
        text = "no job under it starts until the limit is raised"
    step = f"to see them: {_listing(full, known.row)}; to see the limits: minutehand controls"
    return "limited", f"{reached}; {text}.", step, evidence | found


def names_under(limit: Control, row: Row) -> dict[str, str | None]:
    """Return what the jobs under a limit have in common with the job; None stands for any."""
    own = {name: getattr(row, name) or "" for name in WITHIN.get(limit.per, ())}
    return {name: own.get(name, getattr(limit, name) or None) for name in SCOPE}


def _listing(limit: Control, row: Row) -> str:
    """Return the command that lists the jobs that are offered or running under a limit."""
    flags = [
        word for name, value in names_under(limit, row).items() if value for word in (f"--{name}", value)
    ]
    words = ["minutehand", "ls", *flags, "--state", "offered", "--state", "running"]
    return " ".join(map(quoted, words))


def _limits(known: Evidence) -> Iterator[Control]:
    yield from known.limits
    # Without a limit, a group runs one job at a time.
    if known.group and not any(each.per == "group" or each.group for each in known.limits):
        yield Control(per="group", limit=1, busy=known.group.busy)


def _used_up(known: Evidence) -> Control | None:
    """Return the rate that has room last: the job waits for all of them."""
    used = [each for each in known.rates if each.free_at and each.free_at > known.now]
    return max(used, key=lambda each: each.free_at or known.now, default=None)


def _rated(known: Evidence, zone: tzinfo) -> Found | None:
    last = _used_up(known)
    if last is None:
        return None
    seconds = (last.period or timedelta()).total_seconds()
    return (
        "rate",
        f"The rate of {last.rate} starts in {seconds:g} s for {last.scope} is used up; "
        f"the next job starts at {time_in(last.free_at, zone)} at the earliest, and this one is {turn(known)}.",
        "minutehand controls",
        {
            "rate": last.rate,
            "period": seconds,
            "burst": last.burst,
            "scope": last.scope,
            "free_at": last.free_at,
            "ahead": known.limited and known.limited.ahead,
        },
    )


LIMIT_REASONS = (_limited, _rated)
