"""Measure: how many jobs came and went hour by hour, how long they waited and ran, and what they failed with."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from minutehand.database import Database
from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence
from minutehand.queries.jobs import check_moments, clock

By = Literal["hour", "day"]
Each = Literal["queue", "kind"]
WINDOW: dict[By, timedelta] = {"hour": timedelta(days=1), "day": timedelta(days=7)}
LONGEST: dict[By, timedelta] = {"hour": timedelta(days=100), "day": timedelta(days=3700)}


@dataclass(frozen=True)
class Bin:
    """What became of jobs in an hour or a day: how many were enqueued then, and how many ended, and how.

    `name` is the queue or kind, where each was asked for.
    """

    start: datetime
    name: str | None
    enqueued: int
    done: int
    dead: int
    cancelled: int


@dataclass(frozen=True)
class Spread:
    """How something is spread over many: what half of them took at most, 95 and 99 in a hundred, and all."""

    count: int
    p50: timedelta
    p95: timedelta
    p99: timedelta
    most: timedelta


@dataclass(frozen=True)
class Durations:
    """How long the attempts at a queue's jobs, or at a kind's in it, ran, and how long jobs waited for their first.

    A wait begins at `run_at`, and is counted for jobs that ended with their first attempt.
    """

    queue: str
    kind: str | None
    run: Spread | None
    wait: Spread | None


@dataclass(frozen=True)
class Failure:
    """How many attempts of a kind in a queue failed with a type of error, and when the last one did."""

    queue: str
    kind: str
    error: str
    attempts: int
    last: datetime


@dataclass(frozen=True)
class Today:
    """The queue at a glance: what is pending, what ended since midnight, the last failure, what recurs next."""

    pending: int
    running: int
    queues: int
    schedules: int
    done: int
    failed: int
    last_failed: datetime | None
    next_schedule: datetime | None


def histogram(
    database: Database, *, by: By = "hour", since: datetime | None = None, until: datetime | None = None,
    zone: str = "UTC", each: Each | None = None, queue: str | None = None, kind: str | None = None,
) -> list[Bin]:  # fmt: skip
    """Return every hour or day of a zone from the one in which `since` lies, also those in which nothing happened.

    Unless said, it is the last 24 hours, or 7 days. A day in a zone may have 23 or 25 hours.
    """
    since, until = _window(database, since, until, WINDOW[by])
    if until - since > LONGEST[by]:
        raise InvalidJobError("window_is_bounded", f"{by}s are counted over {LONGEST[by].days} days at most")
    records = database.run(
        "histogram", by=by, since=since, until=until, zone=check_zone(zone), each=each, queue=queue, kind=kind,
        step=timedelta(minutes=15) if by == "hour" else timedelta(hours=1),
    )  # fmt: skip
    return [Bin(**record) for record in records]


def durations(
    database: Database, *, since: datetime | None = None, until: datetime | None = None,
    queue: str | None = None, kind: str | None = None, by_kind: bool = False,
) -> list[Durations]:  # fmt: skip
    """Return how long jobs waited and attempts ran that ended in a window: the last 24 hours, unless said."""
    since, until = _window(database, since, until, WINDOW["hour"])
    records = database.run(
        "durations", since=since, until=until, queue=queue, kind=kind, by_kind=by_kind
    )  # fmt: skip
    return [
        Durations(r["queue"], r["kind"], _spread(r["ran"], r["run"]), _spread(r["waited"], r["wait"]))
        for r in records
    ]


def failures(
    database: Database, *, since: datetime | None = None, until: datetime | None = None,
    queue: str | None = None, kind: str | None = None,
) -> list[Failure]:  # fmt: skip
    """Return the types of errors with which attempts failed in a window (24 hours, unless said), the most first."""
    since, until = _window(database, since, until, WINDOW["hour"])
    records = database.run("failures", since=since, until=until, queue=queue, kind=kind)
    return [Failure(**record) for record in records]


def today(database: Database, zone: str = "UTC") -> Today:
    """Return the queue at a glance; midnight is that of the zone."""
    return Today(**database.run("today", zone=check_zone(zone))[0])


def check_zone(zone: str) -> str:
    """Return the name of a time zone; raise InvalidJobError if there is none."""
    # Imported here: who counts in UTC, as a worker never does, needs no time zones.
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(zone).key
    except (KeyError, ValueError, OSError):
        raise InvalidJobError("zone_is_known", f"{sentence('zone_is_known')}, got {zone[:80]!r}") from None


def _window(
    database: Database, since: datetime | None, until: datetime | None, length: timedelta
) -> tuple[datetime, datetime]:
    check_moments(since=since, until=until)
    until = until or clock(database)
    since = since or until - length
    if since > until:
        raise InvalidJobError("window_is_forward", "since is not after until")
    return since, until


def _spread(count: int, seconds: list[float] | None) -> Spread | None:
    if not count or seconds is None:
        return None
    p50, p95, p99, most = (timedelta(seconds=each) for each in seconds)
    return Spread(count, p50, p95, p99, most)
