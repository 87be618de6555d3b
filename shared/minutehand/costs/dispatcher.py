"""The dispatcher's part of the costs: as its invocations recorded it, and as estimated for a mode.

A tick of another mode takes as long as those that were recorded, and the difference between both modes' `tick_ms`.
"""

from dataclasses import dataclass
from typing import Literal

from minutehand.costs.prices import Prices
from minutehand.queries.usage import DispatcherUsage, FinishedWork

Mode = Literal["minute", "prompt", "sleep"]


@dataclass(frozen=True)
class DispatcherCost:
    """The dollars for the dispatcher and its schedules; `recorded` is False for an estimate.

    EventBridge Scheduler started `scheduled` of the invocations.
    """

    recorded: bool
    invocations: float
    scheduled: float
    gb_seconds: float
    dollars: float


@dataclass(frozen=True)
class DispatcherCosts:
    """Computes what the dispatcher costs."""

    prices: Prices
    architecture: str
    used: list[DispatcherUsage]

    @property
    def recorded(self) -> DispatcherCost | None:
        """What its invocations recorded; None if none did."""
        if not self.used:
            return None
        return self._cost(
            sum(each.invocations for each in self.used),
            sum(each.scheduled for each in self.used),
            sum(self._billed_ms(each) * each.memory_mb for each in self.used) / 1024 / 1000,
            recorded=True,
        )

    def estimated(self, mode: Mode, minutes: float, work: FinishedWork | None = None) -> DispatcherCost:
        """Return the costs of some minutes in a mode with some work, without cold starts."""
        ticks, woken, waited = minutes, 0.0, 0.0
        if mode == "sleep":
            ticks = minutes / 60 / self._of("sweep_hours") + (work.wakeups if work else 0)
        elif mode == "prompt" and work:
            woken, waited = work.woken, work.wait_seconds
        seconds = (ticks + woken) * self._tick_ms(mode) / 1000 + waited
        return self._cost(ticks + woken, ticks, seconds * self._memory_mb / 1024, recorded=False)

    def _cost(
        self, invocations: float, scheduled: float, gb_seconds: float, *, recorded: bool
    ) -> DispatcherCost:
        dollars = (
            self.prices.requests(invocations)
            + scheduled * self.prices("scheduler", "invocation")
            + self.prices.run(gb_seconds * 1000, 1024, self.architecture)
        )
        return DispatcherCost(recorded, invocations, scheduled, gb_seconds, dollars)

    def _billed_ms(self, used: DispatcherUsage) -> float:
        added = used.invocations * self.prices(used.mode, "tick_overhead_ms") + used.cold * self._of(
            "init_ms"
        )
        return used.ran_ms + added

    def _tick_ms(self, mode: Mode) -> float:
        """Return the milliseconds of an invocation in a warm environment and a mode, without its wait."""
        tick_ms = self.prices(mode, "tick_ms")
        if not self.used:
            return tick_ms
        ran = sum(
            each.ran_ms - each.waited_ms + each.invocations * (tick_ms - self.prices(each.mode, "tick_ms"))
            for each in self.used
        )
        return max(0.0, ran / self._invocations) + self.prices(mode, "tick_overhead_ms")

    @property
    def _memory_mb(self) -> float:
        if not self.used:
            return self._of("tick_memory_mb")
        return sum(each.memory_mb * each.invocations for each in self.used) / self._invocations

    @property
    def _invocations(self) -> int:
        return sum(each.invocations for each in self.used)

    def _of(self, name: str) -> float:
        return self.prices("functions", name)
