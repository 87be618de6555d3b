"""Statistics: counts of jobs over time, durations, and failures by type of error."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from minutehand.database import Executor, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.model.calendar import FIRST
from minutehand.model.new_job import check_calendar
from minutehand.queries.jobs import clock

By = Literal["hour", "day"]
Each = Literal["queue", "kind"]
WINDOW: dict[By, timedelta] = {"hour": timedelta(days=1), "day": timedelta(days=7)}
UNSERVED_AFTER = timedelta(minutes=5)
COUNTED_DUE = 1000
LONGEST: dict[By, timedelta] = {"hour": timedelta(days=100), "day": timedelta(days=3700)}


@dataclass(frozen=True)
class Bin:
    """An hour or a day: the number of jobs enqueued in it, and finished in it by outcome.

    `name` is the queue or kind, if the histogram is for each of them.
    """

    start: datetime
    name: str | None
    enqueued: int
    done: int
    dead: int
    expired: int
    cancelled: int


@dataclass(frozen=True)
class Spread:
    """A distribution of durations: the number of values, their percentiles and their maximum."""

    count: int
    p50: timedelta
    p95: timedelta
    p99: timedelta
    max: timedelta


@dataclass(frozen=True)
class Durations:
    """How long the attempts in a queue, or in a kind of it, ran, and how long jobs waited for their first attempt.

    A wait begins at `run_at`. It is measured for jobs that finished with their first attempt.
    """

    queue: str
    kind: str | None
    run: Spread | None
    wait: Spread | None


@dataclass(frozen=True)
class Failure:
    """The number of attempts of a kind in a queue that failed with a type of error, and the time of the last one."""

    queue: str
    kind: str
    error: str
    attempts: int
    last: datetime


@dataclass(frozen=True)
class Unserved:
    """A queue with due jobs that no worker takes: how many, up to 1000, and how long the oldest has been due."""

    queue: str
    due: int
    late: timedelta


@dataclass(frozen=True)
class Today:
    """An overview: pending and running jobs, those finished since midnight, the last failure, the next schedule."""

    pending: int
    running: int
    queues: int
    schedules: int
    done: int
    failed: int
    last_failed: datetime | None
    next_schedule: datetime | None


@sync_or_async
async def histogram(
    executor: Executor,
    *,
    by: By = "hour",
    since: datetime | None = None,
    until: datetime | None = None,
    zone: str = "UTC",
    each: Each | None = None,
    queue: str | None = None,
    kind: str | None = None,
) -> list[Bin]:
    """Return the hours or days of a time zone from the one that contains `since`, including empty ones.

    The default is the last 24 hours, or 7 days. A day in a time zone may have 23 or 25 hours.
    """
    since, until = await _window(executor, since, until, WINDOW[by])
    if until - since > LONGEST[by]:
        raise InvalidJobError(
            "window_is_bounded", f"a histogram by {by} must span at most {LONGEST[by].days} days"
        )
    records = await executor.run(
        "histogram",
        by=by,
        since=since,
        until=until,
        zone=check_zone(zone),
        each=each,
        queue=queue,
        kind=kind,
        step=timedelta(minutes=15) if by == "hour" else timedelta(hours=1),
    )
    return [Bin(**record) for record in records]


@sync_or_async
async def durations(
    executor: Executor,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    queue: str | None = None,
    kind: str | None = None,
    by_kind: bool = False,
) -> list[Durations]:
    """Return how long jobs waited and attempts ran in a window; the default is the last 24 hours."""
    since, until = await _window(executor, since, until, WINDOW["hour"])
    records = await executor.run(
        "durations", since=since, until=until, queue=queue, kind=kind, by_kind=by_kind
    )
    return [
        Durations(r["queue"], r["kind"], _spread(r["ran"], r["run"]), _spread(r["waited"], r["wait"]))
        for r in records
    ]


@sync_or_async
async def failures(
    executor: Executor,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    queue: str | None = None,
    kind: str | None = None,
) -> list[Failure]:
    """Return the types of errors of the attempts that failed in a window, most frequent first; default 24 hours."""
    since, until = await _window(executor, since, until, WINDOW["hour"])
    records = await executor.run("failures", since=since, until=until, queue=queue, kind=kind)
    return [Failure(**record) for record in records]


@sync_or_async
async def unserved(executor: Executor, period: timedelta = UNSERVED_AFTER) -> list[Unserved]:
    """Return the queues of which a job has been due for this period, while no job of theirs was offered or running.

    Paused jobs are not due. It sees the queues of all tenants, and needs the privileges of minutehand_operator.
    """
    due = {each["queue"]: each for each in await executor.run("count_due", limit=COUNTED_DUE, now=None)}
    late = [queue for queue, each in due.items() if each["late"] > period]
    if not late:
        return []
    served = {each["queue"] for each in await executor.run("find_served", queues=late, period=period)}
    return [Unserved(**due[queue]) for queue in late if queue not in served]


@sync_or_async
async def today(executor: Executor, zone: str = "UTC") -> Today:
    """Return the overview; midnight is that of the time zone."""
    return Today(**(await executor.run("today", zone=check_zone(zone)))[0])


def check_zone(zone: str) -> str:
    """Return the name of a time zone; raise InvalidJobError if it does not exist."""
    # Imported here, so that a worker does not load it.
    from minutehand.model.zones import zone_of

    zone_of(zone)
    return zone


async def _window(
    executor: Executor, since: datetime | None, until: datetime | None, length: timedelta
) -> tuple[datetime, datetime]:
    check_calendar(since, "since")
    check_calendar(until, "until")
    until = until or await clock(executor)
    since = since or max(until, FIRST + length) - length
    if since > until:
        raise InvalidJobError("window_is_forward", "since must not be after until")
    return since, until


def _spread(count: int, seconds: list[float] | None) -> Spread | None:
    if not count or seconds is None:
        return None
    return Spread(count, *(timedelta(seconds=each) for each in seconds))
