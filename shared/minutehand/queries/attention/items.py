"""The items that need attention, each built from what was read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from minutehand.database import Record
from minutehand.model.control import Control
from minutehand.model.display import safe, span
from minutehand.queries.commands import names_of, resume_command

What = Literal[
    "dispatcher_silent", "read_only", "late", "failing", "retrying", "paused", "limited", "throttled"
]
Severity = Literal["critical", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
# The schedule ticks once a minute.
SILENT_AFTER = timedelta(minutes=3)
LATE_AFTER = timedelta(minutes=2)
VERY_LATE_AFTER = timedelta(minutes=10)
# At most as many jobs of an item are counted: it says that something is wrong, not how much.
DUE_LIMIT = 100
DEAD_LIMIT = 1000


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that needs attention.

    `count` is the number of its jobs, at least that many if there are `more`; None if it has no jobs of its own.
    `since` is when it began. `filter` selects its jobs in `list_jobs`, None if it has none. `next_step` is a command.
    """

    what: What
    severity: Severity
    sentence: str
    next_step: str
    queue: str | None = None
    kind: str | None = None
    count: int | None = None
    more: bool = False
    since: datetime | None = None
    filter: dict[str, Any] | None = None


@dataclass(frozen=True)
class Attention:
    """What needs attention, the worst first, at a time of the database's clock."""

    now: datetime
    items: tuple[Item, ...]


def read_only() -> Item:
    """Return the item of a database that accepts no writes."""
    return Item(
        what="read_only",
        severity="critical",
        sentence="The database is read-only, so no job can start or finish.",
        next_step="minutehand doctor",
    )


def silent(state: Sequence[Record], now: datetime, *, is_late: bool) -> Iterator[Item]:
    """Yield the item of a dispatcher that does not tick; one that never did is missed only if jobs are late."""
    ticked = state[0]["ticked"] if state else now
    if now - ticked <= SILENT_AFTER if ticked else not is_late:
        return
    since = f"has not ticked for {span(now - ticked)}" if ticked else "has never ticked"
    yield Item(
        what="dispatcher_silent",
        severity="critical",
        sentence=f"The dispatcher {since}, so due jobs are not offered.",
        next_step="minutehand doctor; to tick now: minutehand tick",
        since=ticked,
    )


def throttled(state: Sequence[Record], now: datetime) -> Iterator[Item]:
    """Yield the queues whose offers were not claimed lately: many of them, or of a few jobs."""
    for each in state:
        if each["queue"] is not None:
            reduced = each["budget"] is not None
            yield Item(
                what="throttled",
                severity="warning",
                sentence=_reduced(each, now) if reduced else _unclaimed(each),
                next_step="see the worker's throttles, errors and reserved concurrency",
                queue=each["queue"],
                count=None if reduced else each["jobs"],
                since=each["lapsed"],
                filter={"queue": each["queue"], "state": ["due", "offered"]},
            )


def _reduced(queue: Record, now: datetime) -> str:
    return (
        f"Workers did not claim offers of queue {queue['queue']} {span(now - queue['lapsed'])} ago; "
        f"at most {queue['budget']} of its jobs are offered at once."
    )


def _unclaimed(queue: Record) -> str:
    jobs = _jobs(queue["jobs"], more=False)
    return f"Workers did not claim offers of queue {queue['queue']}; {jobs} {_waits(queue['jobs'])} for a worker."


def late(due: Sequence[Record]) -> Iterator[Item]:
    """Yield the queues with jobs that have been due for minutes."""
    for each in due:
        more = each["due"] >= DUE_LIMIT
        yield Item(
            what="late",
            severity="critical" if each["late"] >= VERY_LATE_AFTER else "warning",
            sentence=f"Queue {each['queue']} has {_jobs(each['due'], more=more)} due, the oldest for "
            f"{span(each['late'])}.",
            next_step=f"minutehand why {each['queue']}",
            queue=each["queue"],
            count=each["due"],
            more=more,
            filter={"queue": each["queue"], "state": ["due"]},
        )


def failing(found: Sequence[Record], since: datetime) -> Iterator[Item]:
    """Yield the kinds whose jobs died in the last hour, and those whose jobs wait for another attempt."""
    for each in found:
        dead, more = each["state"] == "dead", each["jobs"] > DEAD_LIMIT
        ended = "died in the last hour" if dead else f"failed and {_waits(each['jobs'])} for another attempt"
        yield Item(
            what="failing" if dead else "retrying",
            severity="warning" if dead else "info",
            sentence=f"{_jobs(min(each['jobs'], DEAD_LIMIT), more=more)} of kind {each['kind']} in queue "
            f"{each['queue']} {ended}.",
            next_step=f"minutehand ls --queue {each['queue']} --kind {each['kind']} --state {each['state']}",
            queue=each["queue"],
            kind=each["kind"],
            count=min(each["jobs"], DEAD_LIMIT),
            more=more,
            since=each["since"],
            filter={"queue": each["queue"], "kind": each["kind"], "state": [each["state"]]}
            | ({"finished_since": since.isoformat()} if dead else {}),
        )


def paused(controls: Sequence[Control]) -> Iterator[Item]:
    """Yield the pauses."""
    for each in controls:
        if each.paused:
            until = f" until {each.until:%Y-%m-%d %H:%M} UTC" if each.until else ""
            because = f": {each.reason}" if each.reason else ""
            yield Item(
                what="paused",
                severity="info",
                sentence=safe(f"{each.scope.capitalize()} is paused{until}{because}."),
                next_step=resume_command(each),
                queue=each.queue or None,
                kind=each.kind or None,
                since=each.changed,
                filter=names_of(each) | {"state": ["due", "scheduled", "retrying"]},
            )


def limited(controls: Sequence[Control]) -> Iterator[Item]:
    """Yield the limits that are reached."""
    for each in controls:
        if each.limit is not None and not each.per and (each.busy or 0) >= each.limit:
            yield Item(
                what="limited",
                severity="info",
                sentence=safe(
                    f"The limit of {each.limit} for {each.scope} is reached: {each.busy} are offered or running."
                ),
                next_step="minutehand controls",
                queue=each.queue or None,
                kind=each.kind or None,
                count=each.busy,
                since=each.changed,
                filter=names_of(each) | {"state": ["offered", "running"]},
            )


def _jobs(count: int, *, more: bool) -> str:
    return f"{count:,}{'+' if more else ''} job{'' if count == 1 else 's'}"


def _waits(count: int) -> str:
    return "waits" if count == 1 else "wait"
