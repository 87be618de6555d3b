"""Declaration: a kind, its function, and the options that its jobs have unless an enqueue sets others."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from minutehand.calling.binding import check_runs, name_of
from minutehand.errors import InvalidHandlerError, InvalidJobError
from minutehand.kinds.arguments import Arguments
from minutehand.model.job_options import JobOptions
from minutehand.model.new_job import OPTIONS, NewJob
from minutehand.model.option import iso_duration
from minutehand.model.recurrence import REBOOT
from minutehand.model.recurrence import check as check_recurrence
from minutehand.model.rules import sentence

KIND = re.compile(r"[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*")
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
        if len(self.kind) > 100 or not KIND.fullmatch(self.kind):
            raise InvalidJobError("kind_is_a_name", f"{sentence('kind_is_a_name')}, got {self.kind!r}")
        self._check_names()
        for name, value in self.options.items():
            if value is not None:
                OPTIONS[name].check(value, name)
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
