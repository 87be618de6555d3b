"""Emulator: run the functions of a template locally, with Lambda's runtime client and Invoke API.

template → build → function (its environments) → invoke API and asynchronous queue; hooks make it misbehave.
"""

from emulator.async_queue import Failure
from emulator.clock import Clock
from emulator.emulation import Emulator
from emulator.errors import EmulatorError
from emulator.hooks import Environment, Hooks, WellBehaved
from emulator.invocation import Invocation, Refused, Result, throttled

__all__ = [
    "Clock",
    "Emulator",
    "EmulatorError",
    "Environment",
    "Failure",
    "Hooks",
    "Invocation",
    "Refused",
    "Result",
    "WellBehaved",
    "throttled",
]
