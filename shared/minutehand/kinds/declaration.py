"""Declaration: a kind, its function, and the options that its jobs have unless an enqueue sets others."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, get_args

from minutehand.calling.binding import check_runs, name_of
from minutehand.errors import InvalidHandlerError, InvalidJobError
from minutehand.kinds.arguments import Arguments
from minutehand.model.job_options import JobOptions
from minutehand.model.new_job import OPTIONS, NewJob, OnConflict, UniqueWhile
from minutehand.model.option import iso_duration
from minutehand.model.recurrence import REBOOT
from minutehand.model.recurrence import check as check_recurrence
from minutehand.model.rules import sentence

KIND = re.compile(r"[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*")
# As the domain minutehand.queue. Not that of `model.queues`, which a function that declares jobs need not import.
QUEUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
ZERO = timedelta()
# The rules of values that the database checks at an enqueue, for those of a declaration.
VALID: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "queue": ("queue_is_a_name", QUEUE.fullmatch),
    "priority": ("priority_is_0_to_9", lambda value: 0 <= value <= 9),
    "max_attempts": ("max_attempts_is_at_least_1", lambda value: 1 <= value <= 1_000_000),
    "timeout": ("timeout_is_positive", lambda value: ZERO < value <= timedelta(hours=24)),
    "expires": ("expires_is_positive", lambda value: ZERO < value <= timedelta(days=3650)),
    "on_conflict": ("on_conflict_is_known", lambda value: value in get_args(OnConflict)),
    "unique_while": ("unique_while_is_known", lambda value: value in get_args(UniqueWhile)),
    **dict.fromkeys(
        ("unique_for", "debounce", "throttle"), ("period_is_positive", lambda value: value > ZERO)
    ),
}
# What a call of `enqueue` may have besides the function's arguments.
RESERVED = frozenset([*JobOptions.__annotations__, "connection"])


@dataclass(frozen=True)
class Declaration:
    """A kind that a decorated function runs. With `every`, a schedule of the same name enqueues it."""

    kind: str
    function: Callable[..., Any] = field(repr=False)
    arguments: Arguments = field(repr=False)
    options: Mapping[str, Any] = field(repr=False)
    every: str | None = None
    zone: str | None = None

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        kind: str | None,
        options: Mapping[str, Any],
        every: str | timedelta | None,
        zone: str | None,
    ) -> "Declaration":
        """Read the function; raise InvalidHandlerError or InvalidJobError if a job cannot be made of it."""
        _check_is_function(function, kind)
        check_runs(function, "handler", "return a value, such as a list")
        declaration = cls(
            function.__name__ if kind is None else kind,
            function,
            Arguments(function),
            options,
            iso_duration(every),
            zone,
        )
        declaration._check()
        return declaration

    def new_job(self, payload: object, options: Mapping[str, Any]) -> NewJob:
        """Return a job of this kind; `options` take precedence over those of the declaration."""
        return NewJob(self.kind, payload, **{**self.options, **options})

    def _check(self) -> None:
        check_kind(self.kind)
        self._check_names()
        for name, value in self.options.items():
            if value is not None:
                _check_option(name, value)
        if self.every is not None:
            if self.every != REBOOT:
                check_recurrence(self.every, self.zone)
            self._check_runs_without_arguments()
        elif self.zone is not None:
            raise InvalidJobError("zone_is_of_every", sentence("zone_is_of_every"))

    def _check_names(self) -> None:
        if taken := sorted(RESERVED.intersection(self.arguments.names)):
            raise InvalidHandlerError(
                f"parameter {taken[0]} of {name_of(self.function)} has the name of the job option {taken[0]}; "
                "rename the parameter"
            )

    def _check_runs_without_arguments(self) -> None:
        if self.arguments.required:
            raise InvalidHandlerError(
                f"{name_of(self.function)} runs every {self.every!r} without arguments; "
                f"give {' and '.join(self.arguments.required)} a default"
            )


def check_kind(kind: Any) -> None:
    """Raise InvalidJobError if a value is not the name of a kind."""
    if not isinstance(kind, str):
        raise InvalidJobError("kind_is_a_name", f"{sentence('kind_is_a_name')}, got {type(kind).__name__}")
    if len(kind) > 100 or not KIND.fullmatch(kind):
        raise InvalidJobError("kind_is_a_name", f"{sentence('kind_is_a_name')}, got {_shown(kind)}")


def _check_is_function(function: object, kind: str | None) -> None:
    if isinstance(function, type):
        fault = f"the class {function.__name__}; decorate a function that uses it"
    elif not callable(function):
        fault = f"{function!r}; write options by name, such as @job(queue='mail')"
    elif kind is None and not hasattr(function, "__name__"):
        fault = f"{function!r}, which has no name; set kind="
    else:
        return
    raise InvalidHandlerError(f"@job must decorate a function, got {fault}")


def _check_option(name: str, value: Any) -> None:
    OPTIONS[name].check(value, name)
    rule, is_valid = VALID.get(name, ("", lambda _: True))
    if not is_valid(value):
        raise InvalidJobError(rule, f"{sentence(rule)}, got {_shown(value)}")


def _shown(value: object) -> str:
    return repr(value[:120]) if isinstance(value, str) else str(value)
