"""System: the state of the installation, at a bounded cost."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from minutehand.database import Executor, sync_or_async

# Offered and running jobs are counted up to this number.
COUNTED = 10_000
MAX_BUDGETS = 100
# Of so many finished jobs, the workers are listed.
SAMPLED = 200
MAX_WORKERS = 50


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A queue that may use less than the capacity, because workers did not claim offers of it.

    `budget` is how many of its jobs may be offered or running now, `used` how many are. `lapsed` is when offers lapsed
    the last time; ten minutes later, the budget begins to grow.
    """

    queue: str
    budget: int
    used: int
    lapsed: datetime


@dataclass(frozen=True, kw_only=True)
class SeenWorker:
    """A worker and the version of its code, with how many of the sampled jobs it ended, and when.

    The worker's name is that of a Lambda function, or of a process. Both are None if they are unknown.
    """

    worker: str | None
    version: str | None
    jobs: int
    first: datetime
    last: datetime


@dataclass(frozen=True, kw_only=True)
class System:
    """The state of an installation.

    `ticked` is the latest tick, `previous` the one before it, and `swept` the latest sweep; None if there was none.
    `capacity` and `offer_ttl` are those of the latest tick. `busy` counts the offered and running jobs, up to 10,000.
    `wakeup_failed` is when a tick in mode sleep could not create the next wake-up, and `wakeup_error` why.
    """

    now: datetime
    ticked: datetime | None
    previous: datetime | None
    swept: datetime | None
    wakeup_failed: datetime | None
    wakeup_error: str | None
    capacity: int | None
    offer_ttl: timedelta | None
    busy: int
    schema_version: int
    migrated: datetime
    connections: int
    max_connections: int
    budgets: tuple[Budget, ...]
    workers: tuple[SeenWorker, ...]


@sync_or_async
async def system(executor: Executor) -> System:
    """Return the state of the installation. Its cost does not depend on the number of jobs.

    It needs the privileges of minutehand_operator. Workers are those of the latest 200 finished jobs, and of 200 that
    ended in the last minute.
    """
    (state,) = await executor.run("system_state", limit=COUNTED)
    budgets = (
        await executor.run("system_budgets", limit=COUNTED, queues=MAX_BUDGETS, capacity=state["capacity"])
        if state["capacity"] is not None
        else []
    )
    workers = await executor.run("system_versions", limit=SAMPLED, rows=MAX_WORKERS)
    return System(
        **state,
        budgets=tuple(Budget(**each) for each in budgets),
        workers=tuple(SeenWorker(**each) for each in workers),
    )
