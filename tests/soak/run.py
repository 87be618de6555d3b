"""One run of the soak test: load, ticks and faults for some seconds; then the queue is drained."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from random import Random
from threading import Event, Thread
from time import monotonic
from typing import Any

import psycopg

from emulator import Emulator
from emulator.misbehavior import Misbehavior
from minutehand import Database
from minutehand.operations import controls
from minutehand.schedules.manage import pause
from tests import servers
from tests.soak.checker import Violation
from tests.soak.fences import Fence
from tests.soak.flow_checker import FlowChecker
from tests.soak.flow_load import TAKEN, MixedLoad
from tests.soak.load import LIMITS, SCHEDULES, Load
from tests.soak.stack import emulated, prepare, tree

TICK_SECONDS = 0.5
JOBS_PER_SECOND = 6.0
DRAIN_SECONDS = 180.0
FAULTS: dict[str, Any] = {
    "kill": 0.04,
    "freeze": 0.06,
    "duplicate": 0.2,
    "late": 0.03,
    "lose": 0.03,
    "overrun": 1,
    "within": 0.3,
    # Longer than the lease of a job, which is 3 seconds.
    "frozen": 5.5,
    "late_by": (25, 70),
}
# Jobs that have not ended, and batches without an accepted callback.
LEFT = """select (select count(*) from minutehand.jobs where deleted is null and queue <> 'recurring')
               + (select count(*)
                    from soak.batches b
                   where not exists (select from soak.effects e
                                      where e.payload in (b.name || '-complete', b.name || '-failure')))"""


@dataclass(frozen=True)
class Result:
    """The violations of a run, and its size."""

    violations: list[Violation]
    jobs: int
    attempts: int
    faults: str

    @property
    def promises(self) -> set[str]:
        """The promises that were broken."""
        return {violation.promise for violation in self.violations}


def run(
    database: servers.Database,
    folder: Path,
    *,
    seconds: float,
    seed: int,
    fence: Fence | None = None,
    mode: str = "minute",
) -> Result:
    """Run the load under faults, drain the queue, and check the records."""
    template = tree(folder, fence)
    prepare(database, folder, fence)
    odds = {**FAULTS, **(fence.faults if fence else {})}
    faults = Misbehavior(seed, functions={"WorkerFunction", "DispatcherFunction"}, **odds)
    with (
        closing(Database(database.admin_url)) as enqueuer,
        emulated(template, database.url, [], mode) as lambda_,
        faults.upon(lambda_),
    ):
        load = (fence.load if fence else MixedLoad)(enqueuer, Random(seed))
        load.prepare()
        with _ticking(lambda_, database.admin_url):
            _enqueue(load, seconds)
            for name in SCHEDULES:
                pause(enqueuer, name)
            _drain(database.admin_url)
            # In the mode `prompt`, each occurrence wakes the dispatcher for the next one.
            controls.pause(enqueuer, queue="recurring")
        lambda_.settle(DRAIN_SECONDS)
    checker = FlowChecker(database.admin_url)
    return Result([*checker.violations()], len(checker.jobs), len(checker.attempts), faults.summary)


def _enqueue(load: Load, seconds: float) -> None:
    end, waiting = monotonic() + seconds, Event()
    while monotonic() < end:
        load.step()
        waiting.wait(load.random.expovariate(JOBS_PER_SECOND))


@contextmanager
def _ticking(lambda_: Emulator, url: str) -> Iterator[None]:
    """Tick twice at the same moment, again and again, in a thread."""
    ended, others = Event(), cycle(TAKEN)

    def tick() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while not ended.wait(TICK_SECONDS):
                lambda_.tick()
                lambda_.tick()
                # Workers that take the next due job themselves, next to the dispatchers' offers.
                for queue in (*LIMITS, next(others)):
                    lambda_.send("WorkerFunction", {"queue": queue})
                # A budget adapts to throttled workers over minutes. It would slow this run down, not break it.
                connection.execute("delete from minutehand.budgets")

    thread = Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _drain(url: str) -> None:
    """Wait until only the recurring jobs are left, or until no job ends any more; the checker reports the rest."""
    end, waiting, before = monotonic() + DRAIN_SECONDS, Event(), -1
    with psycopg.connect(url, autocommit=True) as connection:
        while monotonic() < end and (left := _left(connection)):
            if left != before:
                end, before = monotonic() + DRAIN_SECONDS, left
            waiting.wait(TICK_SECONDS)


def _left(connection: psycopg.Connection[Any]) -> int:
    (left,) = connection.execute(LEFT).fetchone() or (0,)
    return int(left)
