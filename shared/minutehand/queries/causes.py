"""Failures by cause: jobs that died or wait for another attempt, grouped by the pattern of their error."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from minutehand.database import Executor, Record, sync_or_async
from minutehand.queries.history import WINDOWS, Window
from minutehand.queries.jobs import clock

PARTS = 24


@dataclass(frozen=True, kw_only=True)
class Cause:
    """The failures of a kind in a queue that have one cause, which is the type of the error and its pattern.

    `jobs` counts the jobs, and `dead` those of them that died; the others wait for another attempt. `trend` has their
    numbers in 24 parts of the window, `message` an example, and `sample` the latest jobs.
    """

    cause: str
    type: str
    message: str | None = field(repr=False)
    queue: str
    kind: str
    jobs: int
    dead: int
    first: datetime
    last: datetime
    trend: tuple[int, ...]
    sample: tuple[UUID, ...]


@dataclass(frozen=True)
class Causes:
    """The causes of failures in a window, the most frequent first; of `read` jobs, which are all if `complete`."""

    since: datetime
    until: datetime
    read: int
    complete: bool
    groups: tuple[Cause, ...]


@sync_or_async
async def failures_by_cause(
    executor: Executor, window: Window = "24h", *, queue: str | None = None, kind: str | None = None
) -> Causes:
    """Return the causes of failures in a window, of the latest 5,000 dead and 10,000 unfinished jobs."""
    until = await clock(executor)
    since = until - WINDOWS[window][0]
    records = await executor.run("failures_by_cause", since=since, until=until, queue=queue, kind=kind)
    read, complete = (records[0]["read"], records[0]["complete"]) if records else (0, True)
    return Causes(since, until, read, complete, tuple(_cause(each) for each in records))


def _cause(record: Record) -> Cause:
    steps: Counter[int] = Counter(record["steps"])
    values = {name: value for name, value in record.items() if name not in ("steps", "read", "complete")}
    trend = tuple(steps[place] for place in range(1, PARTS + 1))
    return Cause(**{**values, "trend": trend, "sample": tuple(record["sample"])})
