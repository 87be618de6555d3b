"""A few minutes of work in a mode on the emulator: real functions, in real time.

Jobs have priorities, fail and are retried, belong to groups and batches, and wait for limits and for the capacity.
So the rules of the dispatcher decide how late they are, and not the speed of the machine.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from minutehand import Retry
from minutehand.batches import close_batch, open_batch
from minutehand.costs.dispatcher import Mode
from minutehand.operations.controls import limit
from minutehand.waking import wakeups
from tests.lambda_faults.cost_runs import Installation, installed
from tests.servers import Database

# Seconds of arrivals, and from tick to tick. In the other modes, EventBridge invokes the dispatcher in full minutes.
ARRIVE, INTERVAL = 100.0, {"minute": 10.0, "prompt": 60.0, "sleep": 60.0}
JOBS, IN_BURST, CAPACITY, CHUNK, OF_KIND = 330, 90, 12, 2, 4
RETRY = Retry(strategy="fixed", min=timedelta(seconds=5), jitter=False)
# Seconds between two checks for wake-ups, and after which a run that does not end fails.
STEP, PATIENCE = 0.05, 900.0
HANDLER = """
import time


def handle(payload, job):
    if "runs" in payload:
        time.sleep(payload["runs"][job.attempt - 1])
        if job.attempt <= payload["fails"]:
            raise ValueError("expected by the test")
"""
LATE = """
    select extract(epoch from min(a.started) - greatest(j.enqueued, j.run_at))::float8
      from minutehand.attempts a join minutehand.jobs j on j.id = a.job group by j.id, j.enqueued, j.run_at"""
ENDED = """
    select (select count(*) from minutehand.jobs_done), (select count(*) from minutehand.attempts),
           (select count(*) from minutehand.jobs_done where failed)"""
LEFT = "select 1 from minutehand.jobs_live limit 1"


@dataclass(frozen=True)
class EmulatorRun:
    """What the functions did; `late` has the seconds of each job, and `phase` is the time of the first tick."""

    phase: float
    late: list[float]
    jobs: int
    attempts: int
    dead: int


def add_handlers(tree: Path) -> None:
    """Add the handlers of this work to a copy of the stack."""
    for kind in ("work", "slow"):
        (tree.parent / "functions" / "worker" / "handlers" / f"{kind}.py").write_text(HANDLER)


def run(mode: Mode, database: Database, tree: Path) -> EmulatorRun:
    """Run the work in warm environments."""
    parameters = {"MaxConcurrency": str(CAPACITY), "Chunk": str(CHUNK), "WorkerTimeout": "60"}
    settings = {"MINUTEHAND_CHUNK": str(CHUNK), "MINUTEHAND_CAPACITY": str(CAPACITY)}
    with installed(mode, database, tree, parameters, **settings) as here:
        stage = here.stage
        limit(stage.database, OF_KIND, kind="slow")
        limit(stage.database, 1, queue="default", per="group")
        _warm(here)
        phase = _live(here, sorted(_arrivals(here), key=lambda each: each[0]))
        late = [seconds for (seconds,) in stage.sql(LATE)]
        ((jobs, attempts, dead),) = stage.sql(ENDED)
        return EmulatorRun(phase, late, jobs, attempts, dead)


def _warm(here: Installation) -> None:
    """Start an environment for each job that may run, and forget its jobs."""
    for _ in range(CAPACITY):
        here.stage.enqueue("work", {"runs": [1.0], "fails": 0})
    here.tick()
    while here.stage.sql(LEFT):
        here.tick()
    if here.event_bridge is not None:
        for name in here.event_bridge.names:
            here.event_bridge.delete(name)
    # This process must forget them too, or it would not request them again.
    wakeups.wakeups_of.cache_clear()
    here.stage.sql("truncate minutehand.jobs_done, minutehand.attempts")


def _arrivals(here: Installation) -> Iterator[tuple[float, Callable[[], object]]]:
    """Yield the seconds after which a function is called that enqueues a job."""
    chance, stage = np.random.default_rng(7), here.stage
    batch = open_batch(stage.database, on_complete="work")
    moments = np.sort(np.append(chance.uniform(0, ARRIVE, JOBS - IN_BURST), np.full(IN_BURST, ARRIVE / 3)))
    for number, moment in enumerate(moments):
        options: dict[str, Any] = {"max_attempts": 3, "retry": RETRY}
        if number % 10 == 0:
            options["priority"] = 9
        if number % 4 == 1:
            options["group"] = f"g{number % 3}"
        if number % 9 == 2:
            options["batch"] = batch
        kind = "slow" if number % 5 == 3 else "work"
        runs = [round(float(seconds), 2) for seconds in chance.uniform(1, 4, 3)]
        payload = {"runs": runs, "fails": int(chance.choice([0, 0, 0, 0, 1, 3]))}
        yield float(moment), partial(stage.enqueue, kind, payload, **options)
    yield ARRIVE, partial(close_batch, stage.database, batch)


def _live(here: Installation, arrivals: list[tuple[float, Callable[[], object]]]) -> float:
    """Let everything happen at its time until no job is left; return the time of the first tick."""
    interval = INTERVAL[here.mode]
    began = time.time()
    if here.mode != "minute":
        began = (began // interval + 1) * interval
    next_tick, end = began, began + PATIENCE
    while arrivals or here.stage.sql(LEFT):
        time.sleep(STEP)
        now = time.time()
        assert now < end, "jobs are left"
        while arrivals and began + arrivals[0][0] <= now:
            arrivals.pop(0)[1]()
        if here.event_bridge is not None:
            due = [name for name, at in here.event_bridge.wakeups.items() if at.timestamp() <= now]
            for name in due:
                here.event_bridge.delete(name)
            if due:
                here.stage.lambda_.tick()
        elif now >= next_tick:
            here.stage.lambda_.tick(datetime.fromtimestamp(next_tick, UTC))
            next_tick += interval
    here.stage.lambda_.settle()
    return began
