"""The history of the last hour, day or week: what was enqueued and finished, and how long jobs waited and ran."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from minutehand.database import Executor, Record, sync_or_async

Window = Literal["1h", "24h", "7d"]
# The length of a window, and of the steps that divide it.
WINDOWS: dict[Window, tuple[timedelta, timedelta]] = {
    "1h": (timedelta(hours=1), timedelta(minutes=1)),
    "24h": (timedelta(days=1), timedelta(minutes=15)),
    "7d": (timedelta(days=7), timedelta(hours=1)),
}
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Percentiles:
    """Percentiles of durations in seconds, within a fifth of the exact ones."""

    count: int
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, kw_only=True)
class Step:
    """The jobs that were enqueued and that ended in a part of the window."""

    start: datetime
    enqueued: int = 0
    done: int = 0
    dead: int = 0
    expired: int = 0
    cancelled: int = 0
    wait: Percentiles | None = None
    run: Percentiles | None = None


@dataclass(frozen=True, kw_only=True)
class History:
    """The steps of a window, including empty ones, and the percentiles of all of it.

    `wait` is the time until the first attempt began, of jobs that ended with it; `run` that of the last attempt. If not
    `complete`, the window has more jobs than are read for a tenant, and begins with the first that was read.
    """

    since: datetime
    until: datetime
    step: timedelta
    complete: bool
    bins: tuple[Step, ...]
    wait: Percentiles | None
    run: Percentiles | None


@sync_or_async
async def read_history(executor: Executor, window: Window = "1h", *, queue: str | None = None) -> History:
    """Return the history of a window until now, of all queues or of one."""
    length, step = WINDOWS[window]
    (bound,) = await executor.run("history_bound")
    now = bound["now"]
    since = now - (now - EPOCH) % step - length + step
    # The rows of a tenant are counted, because the history is of all tenants.
    begun = max(since, bound["oldest"] or since)
    records = await executor.run(
        "history",
        since=since,
        now=now,
        step=int(step.total_seconds()),
        queue=queue,
        uncounted=begun if bound["confined"] else None,
    )
    found = {record["start"]: record for record in records}
    starts = [since + place * step for place in range(length // step)]
    return History(
        since=since,
        until=now,
        step=step,
        complete=begun == since,
        bins=tuple(_step(start, found.get(start, {})) for start in starts),
        wait=percentiles(_sum([record["wait"] for record in records])),
        run=percentiles(_sum([record["run"] for record in records])),
    )


def _step(start: datetime, record: Record) -> Step:
    classes = {name: percentiles(_sum([record.get(name)])) for name in ("wait", "run")}
    return Step(**{**record, "start": start, **classes})


def _sum(found: list[Mapping[str, int] | None]) -> Counter[int]:
    total: Counter[int] = Counter()
    for classes in found:
        total.update({int(number): jobs for number, jobs in (classes or {}).items()})
    return total


def percentiles(classes: Mapping[int, int]) -> Percentiles | None:
    """Return the percentiles of durations, given the number of jobs in each class; None without jobs."""
    count = sum(classes.values())
    if not count:
        return None
    return Percentiles(count, *(_percentile(classes, part * count) for part in (0.5, 0.95, 0.99)))


def _percentile(classes: Mapping[int, int], rank: float) -> float:
    """Return the duration below which `rank` jobs are, as if those of a class were spread evenly over it."""
    for number in sorted(classes):
        if rank <= classes[number]:
            low, high = _bounds(number)
            return low + (high - low) * max(rank, 0) / classes[number]
        rank -= classes[number]
    return _bounds(max(classes))[1]


def _bounds(number: int) -> tuple[float, float]:
    """Return the durations of a class in seconds; see minutehand.duration_class."""
    return (0.0, 0.001) if number <= 0 else (0.001 * 2 ** ((number - 1) / 2), 0.001 * 2 ** (number / 2))
