"""The same work in a mode on the emulator: what the meter counts, and what the database knows about it."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from emulator import Clock
from emulator.meter import Reading
from minutehand.costs.dispatcher import Mode
from minutehand.costs.month import month_of
from minutehand.costs.prices import Prices, read_prices
from minutehand.costs.report import Costs
from minutehand.queries.usage import (
    DispatcherUsage,
    FinishedWork,
    KindUsage,
    dispatcher_usage,
    finished_work,
    usage,
)
from minutehand.waking import invoking, wakeups
from tests.lambda_faults.stage import Stage, staged
from tests.servers import Database
from tests.sleep.event_bridge import EventBridge
from tests.waiting import until

# In each minute, two jobs that are due and one for later.
DUE, LATER, SECONDS, MINUTES = 2, timedelta(seconds=3), 2.0, 2
JOBS = MINUTES * (DUE + 1)
# Ticks offer the three jobs of a minute to two workers.
CHUNK = 2
# A worker that is late would otherwise take the job for later as well.
PARAMETERS = {"JobsPerInvocation": "1"}
ENQUEUER = {
    "MINUTEHAND_WORKER": "minutehand-worker",
    "MINUTEHAND_DISPATCHER": "minutehand-dispatcher",
    "AWS_ACCESS_KEY_ID": "emulator",
    "AWS_SECRET_ACCESS_KEY": "emulator",
}
WAITS = "select id from minutehand.jobs_live where visible > now() and coalesce(offered, claimed) is null"
# As if a round had begun a second after a full minute, and each in another one.
PLACE = """
update minutehand.jobs set enqueued = enqueued - (first - %(to)s), run_at = run_at - (first - %(to)s)
  from (select min(enqueued) as first from minutehand.jobs where enqueued >= %(since)s) round
 where enqueued >= %(since)s
"""


@dataclass(frozen=True)
class Metered:
    """What the emulator's meter counted, and the invocations that EventBridge Scheduler made."""

    workers: Reading
    dispatcher: Reading
    scheduled: int
    repeated: int

    @property
    def gb_seconds(self) -> float:
        return self.workers.gb_seconds + self.dispatcher.gb_seconds

    def dollars(self, prices: Prices, architecture: str) -> float:
        """Return the price on Lambda and Scheduler."""
        return (
            prices.run(self.gb_seconds * 1000, 1024, architecture)
            + prices.requests(self.workers.invocations + self.dispatcher.invocations)
            + self.scheduled * prices("scheduler", "invocation")
        )

    def __sub__(self, other: "Metered") -> "Metered":
        return Metered(
            _between(other.workers, self.workers),
            _between(other.dispatcher, self.dispatcher),
            self.scheduled - other.scheduled,
            self.repeated - other.repeated,
        )


@dataclass(frozen=True)
class Run:
    """The work of some minutes in a mode."""

    mode: Mode
    metered: Metered
    used: list[KindUsage]
    work: FinishedWork
    by_dispatcher: list[DispatcherUsage]
    prices: Prices

    def costs(self, architecture: str, other: Mode | None = None, figures: Prices | None = None) -> Costs:
        """Return the costs, with the `figures` of another mode."""
        prices = self.prices
        if other is not None and figures is not None:
            prices = replace(prices, values=prices.values | {other: figures.values[other]})
        month = month_of(self.work.now)
        return Costs(prices, architecture, month, MINUTES, self.used, self.work, self.by_dispatcher)


class Installation:
    """The stack in a mode, EventBridge Scheduler, and a process that enqueues."""

    def __init__(self, mode: Mode, stage: Stage, event_bridge: EventBridge | None) -> None:
        self.mode, self.stage, self.event_bridge = mode, stage, event_bridge
        self.scheduled = 0
        # Ticks that found nothing: a transaction of a worker was open when the tick before them ended.
        self.repeated = 0

    def metered(self) -> Metered:
        functions = self.stage.lambda_.meter.functions
        return Metered(
            functions["WorkerFunction"], functions["DispatcherFunction"], self.scheduled, self.repeated
        )

    def warm(self) -> None:
        """Start more environments than a minute needs."""
        for _ in range(4 if self.mode == "prompt" else 4 * CHUNK):
            self.stage.enqueue("spend", SECONDS)
        self.tick()
        self.minute()

    def minute(self) -> None:
        """Pass a minute: in mode prompt, its tick comes first, and in the others, the next one runs its jobs."""
        if self.mode == "prompt":
            self.tick()
        wakeups.wakeups_of.cache_clear()
        for _ in range(DUE):
            self.stage.enqueue("spend", SECONDS)
        self.stage.enqueue("spend", SECONDS, delay=LATER)
        until(lambda: not self.stage.sql(WAITS))
        if self.event_bridge is not None:
            self._take_wakeups(self.event_bridge)
        if self.mode != "prompt":
            self.tick()
        self.stage.lambda_.settle()
        while self.event_bridge is not None and self.event_bridge.names:
            self._take_wakeups(self.event_bridge)
            self.repeated += 1
            self.tick()

    def tick(self) -> None:
        """Run a tick, and the workers that it invokes."""
        self.scheduled += 1
        self.stage.lambda_.tick()
        self.stage.lambda_.settle()

    def _take_wakeups(self, event_bridge: EventBridge) -> None:
        """Remove the wake-ups of the minute, which starts one tick."""
        assert event_bridge.names
        for name in event_bridge.names:
            event_bridge.delete(name)


def run(mode: Mode, database: Database, tree: Path) -> Run:
    """Do the work in a mode, in warm environments."""
    with installed(mode, database, tree) as here:
        stage = here.stage
        here.warm()
        before, began = here.metered(), datetime.now(UTC)
        stage.sql("delete from minutehand.dispatcher_usage")
        first = began.replace(second=1, microsecond=0) - timedelta(minutes=MINUTES + 1)
        for number in range(MINUTES):
            since = datetime.now(UTC)
            here.minute()
            stage.sql(PLACE, since=since, to=first + timedelta(minutes=number))
        end, metered = datetime.now(UTC) + timedelta(seconds=1), here.metered() - before
        by_dispatcher = dispatcher_usage(stage.database, end)
        prices = _figures(mode, metered, usage(stage.database, began, end), by_dispatcher)
        return Run(
            mode,
            metered,
            usage(stage.database, began, end, overhead_ms=prices(mode, "overhead_ms")),
            finished_work(stage.database, began, end, longest_delay=900, chunk=CHUNK),
            by_dispatcher,
            prices,
        )


@contextmanager
def installed(
    mode: Mode, database: Database, tree: Path, parameters: Mapping[str, str] = PARAMETERS, **settings: str
) -> Iterator[Installation]:
    """Run the stack in a mode, in which this process enqueues; both have these settings."""
    settings = {"MINUTEHAND_CHUNK": str(CHUNK)} | settings
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        event_bridge = stack.enter_context(EventBridge(patch)) if mode == "sleep" else None
        variables = settings | (event_bridge.variables if event_bridge else {})
        clock = Clock(speed=0)
        stage = stack.enter_context(
            staged(database, tree, clock, 60, parameters={**parameters, "Mode": mode}, **variables)
        )
        if mode == "prompt":
            for name, value in (ENQUEUER | settings | {"AWS_REGION": "us-east-1"}).items():
                patch.setenv(name, value)
            patch.setenv("AWS_ENDPOINT_URL_LAMBDA", stage.lambda_.url)
        patch.setenv("MINUTEHAND_MODE", mode)
        invoking._invoker.cache_clear()
        yield Installation(mode, stage, event_bridge)
    invoking._invoker.cache_clear()


def _figures(
    mode: Mode, metered: Metered, used: list[KindUsage], by_dispatcher: list[DispatcherUsage]
) -> Prices:
    """Return the prices, with what these invocations took in the mode, which the machine's load changes."""
    shipped = read_prices()
    (spend,), (ticks,) = used, by_dispatcher
    workers, dispatcher = metered.workers, metered.dispatcher
    assert spend.billed_ms >= JOBS * SECONDS * 1000
    # The meter learns some milliseconds late that a handler has begun, so that its time can be the smaller one.
    took = {
        "overhead_ms": max(0.0, workers.billed_ms - spend.billed_ms) / workers.invocations,
        "tick_overhead_ms": max(0.0, dispatcher.billed_ms - ticks.ran_ms) / dispatcher.invocations,
        "tick_ms": (ticks.ran_ms - ticks.waited_ms) / dispatcher.invocations,
    }
    functions = shipped.values["functions"] | {"cold_share": 0.0, "init_ms": 0.0}
    return replace(shipped, values=shipped.values | {"functions": functions, mode: took})


def _between(earlier: Reading, later: Reading) -> Reading:
    return Reading(**{name: value - getattr(earlier, name) for name, value in vars(later).items()})
