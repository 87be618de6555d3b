"""Stack: the facts about an installation on AWS that the checks examine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from minutehand.errors import ConfigurationError
from minutehand.settings import Settings, read_settings
from minutehand.settings.table import MODE

# The functions whose names may differ from the template's.
PARTS = ("dispatcher", "worker", "api")


@dataclass(frozen=True)
class Layer:
    """A layer of a function, and what it is built for; an empty tuple means everything."""

    name: str
    architectures: tuple[str, ...] = ()
    runtimes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function's configuration. `retries`, `event_age` and `on_failure` apply to asynchronous invocations.

    Variables may contain secrets and are never shown.
    """

    name: str
    state: str
    runtime: str
    architecture: str
    timeout: int
    layers: tuple[Layer, ...]
    variables: Mapping[str, str] = field(repr=False)
    reserved: int | None = None
    retries: int = 2
    event_age: int = 21600
    on_failure: str = ""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The schedule that invokes the dispatcher."""

    name: str
    enabled: bool
    expression: str
    target: str
    retries: int
    event_age: int


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What the dispatcher can connect to, by its own answer, or the error."""

    error: str = ""
    timed_out: bool = False
    database: Mapping[str, Any] = field(default_factory=dict)
    workers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Stack:
    """An installation: its functions by name (None if one does not exist), and the resources that they need.

    `unreserved` is the account's concurrency for functions without a reservation. `failures` counts the messages of
    each on-failure queue (None if the queue does not exist).
    """

    dispatcher: str
    workers: tuple[str, ...]
    api: str
    functions: Mapping[str, Function | None]
    schedule_name: str
    schedule: Schedule | None
    unreserved: int
    failures: Mapping[str, int | None]
    reach: Reach

    @property
    def existing(self) -> list[Function]:
        """The functions that exist."""
        return [function for function in self.functions.values() if function]

    @property
    def worker_functions(self) -> list[Function]:
        """The workers that exist."""
        return [function for function in self.existing if function.name in self.workers]

    @property
    def dispatcher_function(self) -> Function | None:
        """The dispatcher, if it exists."""
        return self.functions.get(self.dispatcher)

    @property
    def invoked(self) -> list[Function]:
        """The functions that are invoked asynchronously: by the schedule, or by the dispatcher."""
        return [function for function in [self.dispatcher_function, *self.worker_functions] if function]

    @property
    def sleeps(self) -> bool:
        """Whether wake-ups start the ticks; the schedule is a sweep then."""
        function = self.dispatcher_function
        return function is not None and function.variables.get(MODE.name) == "sleep"

    @property
    def invoked_in_time(self) -> list[Function]:
        """The functions whose late events another invocation makes up for. In mode sleep, nothing repeats a tick."""
        return [each for each in self.invoked if not (self.sleeps and each.name == self.dispatcher)]

    @property
    def settings(self) -> Settings:
        """The dispatcher's settings, or the defaults if they are invalid, which `variables` reports."""
        try:
            return read_settings(self.dispatcher_function.variables if self.dispatcher_function else {})
        except ConfigurationError:
            return Settings()


def bare(name: str) -> str:
    """Return the name in an ARN, without a version or alias."""
    if not name.startswith("arn:"):
        return name.partition(":")[0]
    parts = name.split(":")
    return parts[6] if parts[2] == "lambda" and len(parts) > 6 else parts[-1]
