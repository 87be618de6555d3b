"""Misbehavior: faults of Lambda, chosen by a seed so that they can be reproduced."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from threading import local
from time import monotonic
from typing import Any, Self

from emulator.clock import Clock
from emulator.emulation import Emulator
from emulator.hooks import Environment, WellBehaved
from emulator.invocation import Invocation, Refused
from emulator.misbehavior_facts import Fact, Ledger
from emulator.misbehavior_fate import Delivery, Odds, Run, draw_delivery, draw_run
from emulator.misbehavior_interrupt import Interrupter
from emulator.misbehavior_throttle import Buckets, Throttle

__all__ = ["Fact", "Misbehavior", "Throttle"]

# After this many hops, Lambda assumes a loop.
HOPS = 16


class Misbehavior(WellBehaved):
    """Make an emulator misbehave inside `with misbehavior.upon(emulator):`.

    The faults of the n-th invocation of a function depend only on the seed and n, not on timing or other invocations.
    `functions` are the logical ids of the affected functions, by default all; `odds` are the parameters of Odds.
    """

    def __init__(
        self,
        seed: int,
        *,
        functions: Collection[str] | None = None,
        throttle: Throttle | None = None,
        hops: int | None = HOPS,
        **odds: Any,
    ) -> None:
        """Do nothing yet; without odds, only chains of `hops` invocations are stopped."""
        self.seed, self.odds, self.hops = seed, Odds(**odds), hops
        self.functions, self.throttle = functions, throttle or Throttle()
        self._ledger, self._local = Ledger(), local()
        self._clock = Clock()
        self._buckets = Buckets(self.throttle, self._clock)

    def __repr__(self) -> str:
        """Return the code that reproduces it."""
        usual = Misbehavior(0)
        changed = {
            name: value for name, value in asdict(self.odds).items() if value != getattr(usual.odds, name)
        }
        for name in ("functions", "throttle", "hops"):
            if getattr(self, name) != getattr(usual, name):
                changed[name] = getattr(self, name)
        return f"Misbehavior({', '.join([str(self.seed), *(f'{name}={value!r}' for name, value in changed.items())])})"

    @contextmanager
    def upon(self, lambda_: Emulator) -> Iterator[Self]:
        """Misbehave inside the block; add the seed to an error that passes through."""
        hooks, reserved = lambda_.hooks, dict(lambda_.concurrency.reserved)
        self._clock, self._buckets = lambda_.clock, Buckets(self.throttle, lambda_.clock)
        if self.throttle.concurrency is not None:
            for function in filter(self._concerns, lambda_.template.functions):
                lambda_.limit(function, self.throttle.concurrency)
        lambda_.hooks = self
        try:
            yield self
        except BaseException as error:
            error.add_note(f"Lambda misbehaved; reproduce it with {self!r}, which did: {self.summary}")
            raise
        finally:
            lambda_.hooks = hooks
            lambda_.concurrency.reserved.update(reserved)

    @property
    def facts(self) -> list[Fact]:
        """The faults until now."""
        return self._ledger.facts

    @property
    def did(self) -> Counter[str]:
        """The number of faults of each kind."""
        return Counter(fact.what for fact in self.facts)

    @property
    def summary(self) -> str:
        """The number of faults, as text."""
        return ", ".join(f"{what} {times}" for what, times in sorted(self.did.items())) or "nothing"

    @property
    def longest(self) -> Counter[str]:
        """The length of the longest chain before each function."""
        return self._ledger.longest

    @property
    def recursive_invocations_dropped(self) -> Counter[str]:
        """The value of a CloudWatch metric for each function."""
        return Counter(fact.function for fact in self.facts if fact.what == "cut")

    def delivery(self, function: str, number: int) -> Delivery:
        """Return the fate of the n-th event of a function."""
        return (
            draw_delivery(self.odds, self.seed, function, number) if self._concerns(function) else Delivery()
        )

    def run(self, function: str, number: int, time: int = 1) -> Run:
        """Return the fate of a run of the n-th invocation of a function; runs count from 1."""
        return draw_run(self.odds, self.seed, function, number, time) if self._concerns(function) else Run()

    def deliver(self, invocation: Invocation) -> Sequence[float]:
        """Lose, delay or duplicate an event; drop it if its chain is too long."""
        decided = self.delivery(invocation.function, self._ledger.number(invocation))
        if self._too_long(invocation):
            self._note("cut", invocation, invocation.hops)
            return ()
        if decided.word:
            self._note(decided.word, invocation, max(decided.delays, default=0.0))
        return decided.delays

    def before(self, invocation: Invocation) -> None:
        """Throttle an attempt; refuse a synchronous invocation if its chain is too long."""
        self._ledger.number(invocation)
        if not invocation.event and self._too_long(invocation):
            self._note("cut", invocation, invocation.hops)
            raise Refused(400, "RecursiveInvocationException", "Lambda has detected a recursive loop.")
        if self._concerns(invocation.function):
            try:
                self._buckets.take(invocation.function)
            except Refused:
                self._note("throttled", invocation)
                raise

    def seconds(self, invocation: Invocation, timeout: float) -> float:
        """Let it overrun its timeout."""
        self._local.timeout = timeout
        # Set by the enclosing `during`, in the same thread.
        overrun: float = self._local.run.overrun
        return timeout + overrun

    @contextmanager
    def during(self, invocation: Invocation, environment: Environment) -> Iterator[None]:
        """Kill or freeze it, and record whether it overran its timeout."""
        number, time = self._ledger.number(invocation), self._ledger.begin(invocation)
        self._local.run = decided = self.run(invocation.function, number, time)

        def record(what: str, after: float) -> None:
            self._note(what, invocation, after)

        with Interrupter(decided, environment, self.odds.frozen, record):
            yield
        if (
            decided.overrun
            and decided.freeze is None
            and monotonic() - environment.began > self._local.timeout
        ):
            record("overran", self._local.timeout)

    def _concerns(self, function: str) -> bool:
        return self.functions is None or function in self.functions

    def _too_long(self, invocation: Invocation) -> bool:
        return self.hops is not None and invocation.hops >= self.hops

    def _note(self, what: str, invocation: Invocation, after: float = 0.0) -> None:
        self._ledger.note(what, invocation, self._clock.now(), after)
