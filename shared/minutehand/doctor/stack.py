"""What stands on AWS, as it was read: the facts that the checks of a stack judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from minutehand.errors import ConfigurationError
from minutehand.settings import Settings, read_settings


@dataclass(frozen=True)
class Layer:
    """A layer of a function, and what it says it is built for; nothing said fits everything."""

    name: str
    architectures: tuple[str, ...] = ()
    runtimes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function's settings. `retries`, `event_age` and `on_failure` are what Lambda's asynchronous queue does.

    Variables may hold secrets, and are never shown.
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
    """What wakes the dispatcher."""

    name: str
    enabled: bool
    expression: str
    target: str
    retries: int
    event_age: int


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What the dispatcher answered from where it runs, or why it did not."""

    error: str = ""
    timed_out: bool = False
    database: Mapping[str, Any] = field(default_factory=dict)
    workers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Stack:
    """An installation: its functions by name (None where there is none), and what stands around them.

    `invited` are the names that the dispatcher's routes lead to, `unreserved` is the concurrency that the account
    leaves to functions without their own, `failures` counts the messages of each on-failure queue (None where there
    is no such queue).
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
    def there(self) -> list[Function]:
        """The functions that exist."""
        return [function for function in self.functions.values() if function]

    @property
    def working(self) -> list[Function]:
        """The workers that exist."""
        return [function for function in self.there if function.name in self.workers]

    @property
    def dispatching(self) -> Function | None:
        """The dispatcher, if it exists."""
        return self.functions.get(self.dispatcher)

    @property
    def invoked(self) -> list[Function]:
        """What is invoked asynchronously: the dispatcher by its schedule, the workers by the dispatcher."""
        return [function for function in [self.dispatching, *self.working] if function]

    @property
    def settings(self) -> Settings:
        """What the dispatcher is told, or the defaults where that makes no sense, which is a finding of its own."""
        try:
            return read_settings(self.dispatching.variables if self.dispatching else {})
        except ConfigurationError:
            return Settings()


def bare(name: str) -> str:
    """Return the name in an ARN, without a version or alias."""
    if not name.startswith("arn:"):
        return name.partition(":")[0]
    parts = name.split(":")
    return parts[6] if parts[2] == "lambda" and len(parts) > 6 else parts[-1]
