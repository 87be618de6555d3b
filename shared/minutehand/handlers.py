"""Handlers: a kind's file is found and imported when the kind is first claimed, and not before."""

import dataclasses
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from minutehand.errors import MismatchError, UnknownKindError
from minutehand.job import Job
from minutehand.middleware import Around, Middleware, around, import_optional
from minutehand.model.payload import Unreadable
from minutehand.settings.table import ENCRYPTION_REQUIRED


@dataclass(frozen=True)
class Handler:
    """A user's function with what its signature says: a payload's type, and whether it wants the job.

    And with the middleware that goes around it.
    """

    function: Callable[..., Any]
    payload_type: Any
    wants_job: bool
    around: Around = field(default_factory=Around)

    @classmethod
    def of(cls, function: Callable[..., Any], around: Around | None = None) -> "Handler":
        """Read a function's signature: `handle(payload)` or `handle(payload, job)`."""
        names = list(inspect.signature(function).parameters)
        hints = typing.get_type_hints(function)
        return cls(function, hints.get(names[0]) if names else None, len(names) > 1, around or Around())

    def __call__(self, job: Job) -> Any:
        """Call the function through its middleware, with the payload in clear and in its type."""
        if not getattr(self.function, "takes_sealed", False):
            job.payload = in_clear(job)
        return self.around.run(job, self._handle)

    def _handle(self, job: Job) -> Any:
        """Call the function; raise MismatchError when the payload does not fit."""
        payload = convert(job.payload, self.payload_type)
        return self.function(payload, job) if self.wants_job else self.function(payload)


class Handlers(Protocol):
    """Where a worker finds the handler of a kind."""

    def find(self, kind: str) -> Handler:
        """Return the kind's handler; raise UnknownKindError if there is none."""


class HandlerPackage:
    """The handlers in a package's modules: kind `billing.invoice` is `handle` in `<package>/billing/invoice.py`."""

    def __init__(self, package: str = "handlers", otherwise: Callable[[Any, Job], Any] | None = None) -> None:
        """Name the package, and the function for kinds that have no file; nothing is imported yet.

        A module `<package>._otherwise` takes precedence over `otherwise`.
        """
        self._package = package
        self._fallback = otherwise
        self._found: dict[str, Handler] = {}

    def find(self, kind: str) -> Handler:
        """Import the kind's module at its first call and return its handler."""
        if kind not in self._found:
            try:
                self._found[kind] = Handler.of(self._function(kind), around(self._package))
            except UnknownKindError as unknown:
                return self._otherwise(unknown)
        return self._found[kind]

    def _otherwise(self, unknown: UnknownKindError) -> Handler:
        """Return the handler of kinds without a file. It is not cached, because a file may be added later."""
        module = import_optional(f"{self._package}._otherwise")
        function = module.handle if module else self._fallback
        if function is None:
            raise unknown
        return Handler.of(function, around(self._package))

    def _function(self, kind: str) -> Callable[..., Any]:
        module = import_optional(f"{self._package}.{kind}")
        if module is None:
            raise UnknownKindError(f"no file {kind.replace('.', '/')}.py among the handlers")
        function = getattr(module, "handle", None)
        if not callable(function):
            raise UnknownKindError(f"the handler file of {kind} has no function named handle")
        return typing.cast(Callable[..., Any], function)


class HandlerTable:
    """Handlers given as functions by kind, and the middleware around them, the first outermost."""

    def __init__(
        self, functions: Mapping[str, Callable[..., Any]], middleware: Sequence[Middleware] = (),
        context: Callable[[Job], Any] | None = None,
    ) -> None:  # fmt: skip
        """Read the signatures."""
        around = Around(middleware, context)
        self._handlers = {kind: Handler.of(function, around) for kind, function in functions.items()}

    def find(self, kind: str) -> Handler:
        """Return the kind's handler."""
        try:
            return self._handlers[kind]
        except KeyError:
            raise UnknownKindError(f"no handler for {kind}") from None


def in_clear(job: Job) -> Any:
    """Return the payload, decrypted if it is encrypted; refuse one that is not where MINUTEHAND_ENCRYPTION_REQUIRED."""
    if not ENCRYPTION_REQUIRED.read() and not _looks_sealed(job.payload):
        return job.payload
    from minutehand.encryption.envelope import (
        opened,  # here, so that who encrypts nothing does not pay for it
    )

    return opened(job)


def _looks_sealed(payload: Any) -> bool:
    return isinstance(payload, dict) and list(payload) == ["minutehand"]


def convert(payload: Any, wanted: Any) -> Any:
    """Return the payload as the type that a handler asks for: a dataclass or a pydantic model; else as it is."""
    if isinstance(payload, Unreadable):
        raise MismatchError(
            "the payload is JSON that Python does not read: too deep, or a number of too many digits"
        )
    if hasattr(wanted, "model_validate"):
        try:
            return wanted.model_validate(payload)
        except ValueError as error:
            raise MismatchError(str(error)) from None
    if dataclasses.is_dataclass(wanted):
        import msgspec  # here, so that a worker whose handlers ask for no type does not pay for it

        try:
            return msgspec.convert(payload, type=wanted)
        except msgspec.ValidationError as error:
            raise MismatchError(str(error)) from None
    return payload
