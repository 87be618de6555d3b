"""The seam for misbehaviour: where a test may make Lambda worse than it is on a good day."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from emulator.invocation import Invocation


class Environment(Protocol):
    """What a hook may do to the execution environment of an invocation, from any thread and at any time."""

    @property
    def pid(self) -> int:
        """The runtime's process, 0 until it was born."""

    @property
    def began(self) -> float:
        """When the handler began, by the monotonic clock; 0 or the last invocation's as long as it has not."""

    def kill(self) -> None:
        """End its processes at once; the invocation under way answers with Runtime.ExitError."""

    def freeze(self) -> None:
        """Stop its processes; while it is frozen, the invocation's time does not run out."""

    def thaw(self) -> None:
        """Let its processes go on."""


class Hooks(Protocol):
    """Asked at every step; inherit from WellBehaved and override what shall be worse."""

    def deliver(self, invocation: Invocation) -> Sequence[float]:
        """Say, for an event that was just accepted, after how many seconds each of its copies is delivered.

        [0] is once and at once, [] never, [0, 0] twice, [180] three minutes late. Seconds of the emulator's clock;
        an event that is older than its function's MaximumEventAgeInSeconds by then goes to the destination.
        """

    def before(self, invocation: Invocation) -> None:
        """Raise Refused (a throttle: `throttled(reason)`; a fault: status 500) to refuse an attempt. Do not wait."""

    def seconds(self, invocation: Invocation, timeout: float) -> float:
        """Say after how many seconds the environment is killed; the function goes on being told `timeout`."""

    def during(self, invocation: Invocation, environment: Environment) -> AbstractContextManager[object]:
        """Enclose an invocation: entered before its event is sent, left when the answer is there."""


class WellBehaved:
    """Lambda on a good day."""

    def deliver(self, invocation: Invocation) -> Sequence[float]:
        """Once, at once."""
        return (0.0,)

    def before(self, invocation: Invocation) -> None:
        """Let it pass."""

    def seconds(self, invocation: Invocation, timeout: float) -> float:
        """At its timeout."""
        return timeout

    def during(self, invocation: Invocation, environment: Environment) -> AbstractContextManager[object]:
        """Leave it in peace."""
        return nullcontext()
