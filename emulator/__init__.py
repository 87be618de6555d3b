"""Lambda on this machine: the built functions of a template under the real runtime client, behind the Invoke API.

template → build → function (its environments) → invoke API and asynchronous queue; hooks make it misbehave.
"""

from emulator.async_queue import Failure
from emulator.clock import Clock
from emulator.emulation import Emulator
from emulator.errors import EmulatorError
from emulator.hooks import Environment, Hooks, WellBehaved
from emulator.invocation import Answer, Invocation, Refused, throttled

__all__ = [
    "Answer",
    "Clock",
    "Emulator",
    "EmulatorError",
    "Environment",
    "Failure",
    "Hooks",
    "Invocation",
    "Refused",
    "WellBehaved",
    "throttled",
]
