"""Usage: what attempts, jobs and the dispatcher used in a time, as far as it is still stored."""

from dataclasses import dataclass
from datetime import datetime

from minutehand.database import Executor, sync_or_async
from minutehand.settings import Settings


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
    """The jobs that finished after an attempt, and what they need in each mode.

    `hops` is the number of delays of a limited length that would have delayed them. `wakeups` is that of minutes in
    which a tick finds some of them, and `tick_invocations` that of the workers' invocations if ticks offer them. In the
    mode prompt these are `prompt_invocations`, and the dispatcher waits for `wait_seconds`; it is invoked for that
    `woken` times.
    """

    now: datetime
    jobs: int
    hops: float
    wakeups: int
    tick_invocations: float
    prompt_invocations: float
    wait_seconds: float
    woken: int


@dataclass(frozen=True)
class DispatcherUsage:
    """What the dispatcher used in a month, in a mode, as its invocations recorded it at their ends.

    `scheduled` is the number of those that EventBridge Scheduler started, and `cold` of those in a new environment.
    `waited_ms` is the part of `ran_ms` in which it waited for jobs. The first ended at `since`; the capacity and the
    chunk are those of the latest.
    """

    mode: str
    memory_mb: int
    invocations: int
    scheduled: int
    cold: int
    ran_ms: int
    waited_ms: int
    since: datetime
    capacity: int
    chunk: int


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
    executor: Executor,
    since: datetime,
    until: datetime,
    *,
    longest_delay: float,
    capacity: int = Settings.capacity,
    chunk: int = Settings.chunk,
) -> FinishedWork:
    """Return the jobs that finished in a window.

    A hop is at most `longest_delay` seconds; `capacity` and `chunk` are those of the dispatcher.
    """
    (record,) = await executor.run(
        "finished_work",
        since=since,
        until=until,
        longest=longest_delay,
        capacity=capacity,
        chunk=chunk,
        together=Settings.jobs_per_invocation,
    )
    return FinishedWork(**record)


@sync_or_async
async def dispatcher_usage(executor: Executor, since: datetime) -> list[DispatcherUsage]:
    """Return what the dispatcher used in the month of a time, those of the mode with most invocations first."""
    return [DispatcherUsage(**record) for record in await executor.run("dispatcher_usage", since=since)]
