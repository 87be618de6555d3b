"""Hooks: inject faults into the emulated Lambda."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from emulator.invocation import Invocation


class Environment(Protocol):
    """The controls of an execution environment for hooks, usable from any thread at any time."""

    @property
    def pid(self) -> int:
        """The pid of the runtime; 0 before it starts."""

    @property
    def began(self) -> float:
        """When the handler began, by the monotonic clock; 0 or the previous value until it begins."""

    def kill(self) -> None:
        """Kill its processes; the running invocation fails with Runtime.ExitError."""

    def freeze(self) -> None:
        """Freeze its processes; the invocation's time is paused."""

    def thaw(self) -> None:
        """Continue its processes."""


class Hooks(Protocol):
    """Hooks into each step; inherit from WellBehaved and override some."""

    def deliver(self, invocation: Invocation) -> Sequence[float]:
        """Return the seconds after which each copy of an accepted event is delivered.

        [0] delivers it once, [] never, [0, 0] twice, [180] three minutes late, by the emulator's clock. An event
        that is then older than MaximumEventAgeInSeconds goes to the destination.
        """

    def before(self, invocation: Invocation) -> None:
        """Raise Refused (a throttle: `throttled(reason)`; a fault: status 500) to refuse an attempt. Must not block."""

    def seconds(self, invocation: Invocation, timeout: float) -> float:
        """Return the seconds after which the environment is killed; the function still sees `timeout`."""

    def during(self, invocation: Invocation, environment: Environment) -> AbstractContextManager[object]:
        """Enclose an invocation, from before its event is sent until its result arrives."""


class WellBehaved:
    """Lambda without faults."""

    def deliver(self, invocation: Invocation) -> Sequence[float]:
        """Deliver the event once, immediately."""
        return (0.0,)

    def before(self, invocation: Invocation) -> None:
        """Allow the attempt."""

    def seconds(self, invocation: Invocation, timeout: float) -> float:
        """Return the timeout."""
        return timeout

    def during(self, invocation: Invocation, environment: Environment) -> AbstractContextManager[object]:
        """Do nothing."""
        return nullcontext()
