"""Usage: what the attempts and the jobs of a time window used, as far as they are still stored."""

from dataclasses import dataclass
from datetime import datetime

from minutehand.database import Executor, sync_or_async


@dataclass(frozen=True)
class KindUsage:
    """The attempts of a kind on Lambda with an amount of memory, and their share of invocations and billed time."""

    kind: str
    memory_mb: int
    attempts: int
    ran_ms: float
    invocations: float
    billed_ms: float


@dataclass(frozen=True)
class FinishedWork:
    """The jobs that finished after an attempt.

    `hops` is the number of delays of a limited length that would have delayed them, `minutes` that of minutes in which
    jobs became due, and `later_minutes` that of minutes in which jobs did that were enqueued for later.
    """

    now: datetime
    jobs: int
    hops: float
    minutes: int
    later_minutes: int


@sync_or_async
async def usage(
    executor: Executor, since: datetime, until: datetime, *, overhead_ms: float = 0.0
) -> list[KindUsage]:
    """Return what Lambda bills for the attempts that ended in a window.

    An invocation takes `overhead_ms` more than its attempts. Attempts of resident workers and attempts whose worker
    died are not included: Lambda does not run the first, and the end of the others is unknown.
    """
    records = await executor.run("usage", since=since, until=until, overhead_ms=overhead_ms)
    return [KindUsage(**record) for record in records]


@sync_or_async
async def finished_work(
    executor: Executor, since: datetime, until: datetime, *, longest_delay: float
) -> FinishedWork:
    """Return the jobs that finished in a window; a hop is at most `longest_delay` seconds."""
    (record,) = await executor.run("finished_work", since=since, until=until, longest=longest_delay)
    return FinishedWork(**record)
