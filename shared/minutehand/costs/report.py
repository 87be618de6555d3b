"""Report: the costs of a month's work, by kind, when idle, and of the same work elsewhere.

The work is read from the history, the rest is computed from the prices and the figures of functions that follow them.
The time of handlers costs the same on every service that runs them on Lambda.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from minutehand.costs.dispatcher import DispatcherCost, DispatcherCosts, Mode
from minutehand.costs.month import Month
from minutehand.costs.prices import Prices
from minutehand.queries.usage import DispatcherUsage, FinishedWork, KindUsage

MODES: tuple[Mode, ...] = ("minute", "prompt", "sleep")


@dataclass(frozen=True)
class KindCost:
    """The dollars that a kind cost, and the figures that they are computed from."""

    kind: str
    memory_mb: int
    attempts: int
    invocations: float
    gb_seconds: float
    dollars: float


@dataclass(frozen=True)
class Alternative:
    """What the same work would cost in the same part of the month, and what a whole month without work would.

    `database` is the price of a database that could pause, for as long as this keeps it awake in a whole idle month.
    """

    name: str
    dollars: float
    idle: float
    database: float | None = None


@dataclass(frozen=True)
class Report:
    """The costs of a month until `until`. The first alternative is the mode of this installation."""

    month: str
    until: datetime
    mode: Mode
    architecture: str
    jobs: int
    kinds: tuple[KindCost, ...]
    dispatcher: DispatcherCost
    alternatives: tuple[Alternative, ...]

    @property
    def work(self) -> float:
        """The dollars for the workers."""
        return sum(each.dollars for each in self.kinds)

    @property
    def total(self) -> float:
        """The dollars for the workers and for the dispatcher with its schedule."""
        return self.work + self.dispatcher.dollars

    @property
    def per_million(self) -> float | None:
        """The dollars for the workers for a million jobs; None without jobs."""
        return self.work / self.jobs * 1e6 if self.jobs else None


@dataclass(frozen=True)
class Costs:
    """Computes the costs of work with prices; `elapsed` is the part of the month that has passed, in minutes."""

    prices: Prices
    architecture: str
    month: Month
    elapsed: float
    used: list[KindUsage]
    work: FinishedWork
    by_dispatcher: list[DispatcherUsage]

    def report(self, mode: Mode) -> Report:
        """Return the report."""
        kinds = tuple(self._kind(each) for each in self.used)
        others = (self._mode(each, mode) for each in MODES if each != mode)
        return Report(
            month=str(self.month),
            until=min(self.work.now, self.month.until),
            mode=mode,
            architecture=self.architecture,
            jobs=self.work.jobs,
            kinds=kinds,
            dispatcher=self._dispatcher.recorded or self._dispatcher_in(mode),
            alternatives=(self._mode(mode, mode), *others, *self._services(mode)),
        )

    def _kind(self, used: KindUsage) -> KindCost:
        billed = used.billed_ms + used.invocations * self._of("cold_share") * self._of("init_ms")
        return KindCost(
            kind=used.kind,
            memory_mb=used.memory_mb,
            attempts=used.attempts,
            invocations=used.invocations,
            gb_seconds=billed / 1000 * used.memory_mb / 1024,
            dollars=self.prices.run(billed, used.memory_mb, self.architecture)
            + self.prices.requests(used.invocations),
        )

    @property
    def _worker_dollars(self) -> float:
        return sum(self._kind(each).dollars for each in self.used)

    def _worker_dollars_in(self, mode: Mode, own: Mode) -> float:
        """Return what the workers cost in a mode: their jobs take as long, in fewer or more invocations."""
        factor = self._invocations_in(mode) / self._invocations_in(own) if self.work.jobs else 1.0
        run = self._run(factor * self._added_ms(mode) - self._added_ms(own))
        return self._worker_dollars + run + self.prices.requests((factor - 1) * self._invocations)

    def _run(self, milliseconds: float) -> float:
        """Return the price of so much time for each invocation."""
        return sum(
            self.prices.run(each.invocations * milliseconds, each.memory_mb, self.architecture)
            for each in self.used
        )

    def _added_ms(self, mode: Mode) -> float:
        """Return the milliseconds of an invocation besides its attempts."""
        return self.prices(mode, "overhead_ms") + self._of("cold_share") * self._of("init_ms")

    def _invocations_in(self, mode: Mode) -> float:
        return self.work.prompt_invocations if mode == "prompt" else self.work.tick_invocations

    @property
    def _invocations(self) -> float:
        return sum(each.invocations for each in self.used)

    @property
    def _attempts(self) -> int:
        return sum(each.attempts for each in self.used)

    @property
    def _dispatcher(self) -> DispatcherCosts:
        return DispatcherCosts(self.prices, self.architecture, self.by_dispatcher)

    def _dispatcher_in(self, mode: Mode) -> DispatcherCost:
        return self._dispatcher.estimated(mode, self.elapsed, self.work)

    def _mode(self, mode: Mode, own: Mode) -> Alternative:
        """Return what a mode costs; that of this installation as recorded."""
        recorded = self._dispatcher.recorded if mode == own else None
        idle = self._dispatcher.estimated(mode, self.month.minutes)
        return Alternative(
            name=f"minutehand, mode {mode}",
            dollars=self._worker_dollars_in(mode, own) + (recorded or self._dispatcher_in(mode)).dollars,
            idle=idle.dollars,
            database=self._database(mode, idle.scheduled),
        )

    def _database(self, mode: Mode, ticks: float) -> float:
        awake = self.month.minutes * 60
        if mode == "sleep":
            each = self.prices("database", "resume_seconds") + self.prices("database", "pause_seconds")
            awake = min(awake, ticks * each)
        units = self.prices("database", "units")
        return awake / 3600 * units * self.prices("database", "unit_hour")

    def _services(self, own: Mode) -> Iterator[Alternative]:
        request = self.prices.requests
        # Their invocations have the overhead of those of the mode minute.
        added_ms = self._added_ms("minute") - self._added_ms(own)
        handlers = self._worker_dollars - request(self._invocations) + self._run(added_ms)
        attempts, jobs = self._attempts, self.work.jobs
        message, delays = self.prices("sqs", "request"), max(0.0, self.work.hops - jobs)
        sent = jobs * message + 2 * message * self._invocations
        yield Alternative(
            "SQS and Lambda",
            # A delay beyond the longest one is a chain of messages, each forwarded by an invocation.
            handlers + request(self._invocations) + sent + delays * (3 * message + request(1)),
            self.prices("sqs", "idle_polls_a_month") * message,
        )
        yield Alternative(
            "EventBridge Scheduler",
            handlers + request(attempts) + jobs * self.prices("scheduler", "invocation"),
            0.0,
        )
        steps = self.prices("step_functions", "transition") * self.prices("step_functions", "transitions")
        yield Alternative("Step Functions", handlers + request(attempts) + jobs * steps, 0.0)

    def _of(self, name: str) -> float:
        return self.prices("functions", name)
