"""Handlers: find the function of a kind. Its module is imported when the kind is first claimed."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from minutehand.calling import unawaited
from minutehand.calling.binding import Binding, bind, check_runs, is_async
from minutehand.calling.conversion import ANYTHING
from minutehand.calling.modules import import_handler, no_handler
from minutehand.calling.results import finished_result
from minutehand.claimed_job import Job
from minutehand.errors import UnknownKindError
from minutehand.kinds.finding import find_declaration
from minutehand.middleware import Around, Middleware, around, import_optional
from minutehand.model.payload import Unreadable, is_encrypted
from minutehand.settings.table import ENCRYPTION_REQUIRED

if TYPE_CHECKING:
    # A process without decorated functions imports neither.
    from minutehand.kinds.arguments import Arguments
    from minutehand.kinds.declaration import Declaration

DEFAULT_PACKAGE = "handlers"


@dataclass(frozen=True)
class Handler:
    """A user's function, the arguments it takes, and the middleware around it."""

    function: Callable[..., Any]
    binding: Binding | Arguments
    around: Around = field(default_factory=Around)
    is_async: bool = False

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        around: Around | None = None,
        job_types: Sequence[type] = (Job,),
    ) -> Handler:
        """Read a function's signature; raise InvalidHandlerError if it cannot be called with a payload and a job."""
        if declaration := _declaration_of(function):
            return cls.declared(declaration, around)
        binding, around = bind(function, job_types), around or Around()
        check_runs(function, "handler", "return a value, such as a list")
        around.check_order(function)
        return cls(function, binding, around, is_async(function))

    @classmethod
    def declared(cls, declaration: Declaration, around: Around | None = None) -> Handler:
        """Return the handler of a decorated function."""
        around = around or Around()
        around.check_order(declaration.function)
        return cls(declaration.function, declaration.arguments, around, is_async(declaration.function))

    def __call__(self, job: Job) -> Any:
        """Decrypt the payload, convert it to the type of the signature, and run the function with its middleware."""
        self._decrypt(job)
        if self._is_alone:
            return unawaited.run(self._start, job)
        with unawaited.refused():
            return finished_result(self.around.run(job, self._start))

    async def run_async(self, job: Job) -> Any:
        """Run the function in the caller's event loop, with middleware and a context that can run there."""
        self._decrypt(job)
        with unawaited.refused():
            return finished_result(await self.around.run_async(job, self._start))

    @property
    def runs_in_loop(self) -> bool:
        """Whether this is an async function, and all of its middleware can run in the event loop."""
        return self.is_async and self.around.runs_in_loop

    def _decrypt(self, job: Job) -> None:
        """Replace the payload by its clear text, unless the function decrypts it."""
        if (self._requires_encryption or is_encrypted(job.payload)) and not self._takes_encrypted:
            # Imported only when used, for the sake of cold starts.
            from minutehand.encryption.envelope import decrypted_payload

            job.payload = decrypted_payload(job)

    @cached_property
    def _takes_any_payload(self) -> bool:
        """Whether the only argument is the payload, of any type, so that the function can be called as it is."""
        binding = self.binding
        return (
            isinstance(binding, Binding)
            and (binding.positional, binding.keywords) == (("payload",), ())
            and binding.payload_type in ANYTHING
        )

    @cached_property
    def _is_alone(self) -> bool:
        """Whether this is a function that is not async, without middleware and context."""
        return not (self.is_async or self.around.middleware) and self.around.context is None

    @property
    def _takes_encrypted(self) -> bool:
        return getattr(self.function, "takes_encrypted", False)

    @cached_property
    def _requires_encryption(self) -> bool:
        """Whether payloads that were not encrypted are refused. The environment is not read for each job."""
        return ENCRYPTION_REQUIRED.read()

    def _start(self, job: Job) -> Any:
        """Call the function. The result of an async one is a coroutine."""
        if self._takes_any_payload and type(job.payload) is not Unreadable:
            result = self.function(job.payload)
        else:
            result = self.binding.call(self.function, self.binding.convert(job.payload), job)
        if result is None:
            return None
        return result if self.is_async and inspect.iscoroutine(result) else finished_result(result)


class Handlers(Protocol):
    """Finds the handler of a kind."""

    def find(self, kind: str) -> Handler:
        """Return the kind's handler; raise UnknownKindError if there is none."""


class HandlerPackage:
    """The handlers in packages' modules: kind `billing.invoice` is `handle` in `<package>/billing/invoice.py`."""

    def __init__(
        self,
        packages: str | Sequence[str] = DEFAULT_PACKAGE,
        otherwise: Callable[[Any, Job], Any] | None = None,
    ) -> None:
        """Remember the packages, and the function for kinds that have no file; nothing is imported yet.

        The first package that has a kind's file runs it. A module `<package>._otherwise` takes precedence over
        `otherwise`.
        """
        self._packages = [packages] if isinstance(packages, str) else list(packages)
        self._otherwise = otherwise
        self._found: dict[str, Handler] = {}

    def find(self, kind: str) -> Handler:
        """Return the kind's handler, and import its module at the first call."""
        if kind not in self._found:
            handler = self._search(kind)
            if handler is None:
                return self._fallback(kind)
            self._found[kind] = handler
        return self._found[kind]

    def _search(self, kind: str) -> Handler | None:
        """Return the kind's handler in the first package that has one. Decorated functions precede files.

        They are found without the import of a package.
        """
        if declaration := find_declaration(kind, tuple(self._packages)):
            return Handler.declared(declaration, around(self._owner(declaration)))
        for package in self._packages:
            if module := import_handler(package, kind):
                return Handler.of(_function(kind, module), around(package))
        return None

    def _owner(self, declaration: Declaration) -> str:
        """Return the package of a decorated function, whose middleware applies; otherwise the last one."""
        module = f"{declaration.function.__module__}."
        return next((each for each in self._packages if module.startswith(f"{each}.")), self._packages[-1])

    def _fallback(self, kind: str) -> Handler:
        """Return the handler of kinds without a file, such as routed ones. Not cached, since a file may be added."""
        for package in self._packages:
            if module := import_optional(f"{package}._otherwise"):
                return Handler.of(module.handle, around(package))
        self._check_packages()
        if self._otherwise is None:
            raise no_handler(kind)
        return Handler.of(self._otherwise, around(self._packages[0]))

    def _check_packages(self) -> None:
        """Raise UnknownKindError if a package does not exist. The default one need not, if all kinds are elsewhere."""
        for package in self._packages:
            if package != DEFAULT_PACKAGE and import_optional(package) is None:
                raise UnknownKindError(
                    f"the module {package} with the handlers cannot be found; install it, or correct its name"
                )


def _declaration_of(function: Callable[..., Any]) -> Declaration | None:
    """Return the declaration of a decorated function."""
    found = getattr(function, "declaration", None)
    if found is None:
        return None
    from minutehand.kinds.declaration import Declaration

    return found if isinstance(found, Declaration) else None


def _function(kind: str, module: ModuleType) -> Callable[..., Any]:
    function = getattr(module, "handle", None)
    if not callable(function):
        raise UnknownKindError(f"{kind.replace('.', '/')}.py must define a function named handle")
    return typing.cast(Callable[..., Any], function)


class HandlerTable:
    """Handlers given as functions by kind, and the middleware around them, outermost first."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        middleware: Sequence[Middleware] = (),
        context: Callable[[Job], Any] | None = None,
    ) -> None:
        """Read the functions' signatures; raise InvalidHandlerError for one that cannot be called."""
        around = Around(middleware, context)
        self._handlers = {kind: Handler.of(function, around) for kind, function in functions.items()}

    def find(self, kind: str) -> Handler:
        """Return the kind's handler; raise UnknownKindError if there is none."""
        try:
            return self._handlers[kind]
        except KeyError:
            raise UnknownKindError(f"no handler for kind {kind}; add a function for it") from None
