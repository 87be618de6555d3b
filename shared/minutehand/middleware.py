"""Middleware: what goes around every handler, and what every job passes before it is enqueued.

    # handlers/_middleware.py, or the module that MINUTEHAND_MIDDLEWARE names
    def timed(job, call_next):
        began = monotonic()
        try:
            return call_next(job)
        finally:
            print(job.kind, monotonic() - began)

    middleware = [timed]        # the first is the outermost
    context = connect_to_crm    # called for each attempt; what it returns is job.context

What a module named by MINUTEHAND_MIDDLEWARE calls `enqueuing`, a function or a list of them, and what is registered
by `before_enqueue`, is given each NewJob and returns it, or another; or refuses it by raising InvalidJobError.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from minutehand.errors import ConfigurationError, InvalidJobError
from minutehand.job import Job
from minutehand.model.new_job import NewJob
from minutehand.settings.table import MIDDLEWARE

Next = Callable[[Job], Any]
Middleware = Callable[[Job, Next], Any]
Check = Callable[[NewJob], NewJob]
OwnCheck = TypeVar("OwnCheck", bound=Check)

_checks: list[Check] = []


@dataclass(frozen=True)
class Around:
    """What goes around a handler: middleware, the first outermost, within the context of each attempt."""

    middleware: Sequence[Middleware] = ()
    context: Callable[[Job], Any] | None = None

    @classmethod
    def of(cls, module: ModuleType) -> "Around":
        """Read a module's `middleware` and `context`."""
        return cls(_several(module, "middleware"), getattr(module, "context", None))

    def run(self, job: Job, handler: Next) -> Any:
        """Call the handler with all that goes around it."""
        call = handler
        for each in reversed(self.middleware):
            call = partial(_call, each, call)
        with self._context(job):
            return call(job)

    @contextmanager
    def _context(self, job: Job) -> Iterator[None]:
        """Make the attempt's own context; one that can be entered is left when the attempt ends, however it ends."""
        if self.context is None:
            yield
            return
        made = self.context(job)
        if isinstance(made, AbstractContextManager):
            with made as job.context:
                yield
        else:
            job.context = made
            yield


def around(package: str) -> Around:
    """Return what goes around the handlers of a package: by MINUTEHAND_MIDDLEWARE, or by its own `_middleware`."""
    named = MIDDLEWARE.read()
    return Around.of(_module(named)) if named else _own(f"{package}._middleware")


def before_enqueue(check: OwnCheck) -> OwnCheck:
    """Have a function look at every job before it is enqueued in this process; may be used as a decorator."""
    _checks.append(check)
    return check


def prepare(job: NewJob) -> NewJob:
    """Return what is to be enqueued, after all who are to look at it have done so; raise what they raise."""
    named = MIDDLEWARE.read()
    for check in (*_checks, *(_several(_module(named), "enqueuing") if named else ())):
        before, job = job, check(job)
        if not isinstance(job, type(before)):
            raise InvalidJobError("middleware_returns_a_job", "what looks at a NewJob returns a NewJob")
    return job


def prepare_all(jobs: Iterable[NewJob]) -> Iterator[NewJob | InvalidJobError]:
    """Yield each job as it is to be enqueued, or why it is not."""
    for job in jobs:
        try:
            yield prepare(job)
        except InvalidJobError as error:
            yield error


def _call(middleware: Middleware, call_next: Next, job: Job) -> Any:
    return middleware(job, call_next)


def import_optional(name: str) -> ModuleType | None:
    """Import a module; return None if it does not exist. An import that fails inside the module is raised."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            return None
        raise


def _own(name: str) -> Around:
    module = import_optional(name)
    return Around.of(module) if module else Around()


@cache
def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"{MIDDLEWARE.name} names {name}, which cannot be imported: {error}"
        ) from error


def _several(module: ModuleType, name: str) -> Sequence[Any]:
    said = getattr(module, name, ())
    return (said,) if callable(said) else tuple(said)
