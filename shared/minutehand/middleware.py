"""Middleware: functions around every handler, and checks on every job before it is enqueued.

    # handlers/_middleware.py, or the module that MINUTEHAND_MIDDLEWARE names
    def timed(job, call_next):
        began = monotonic()
        try:
            return call_next(job)
        finally:
            print(job.kind, monotonic() - began)

    middleware = [timed]        # outermost first
    context = connect_to_crm    # called for each attempt; its return value is job.context

Enqueue middleware is `enqueuing`, a function or a list of functions, in the module that MINUTEHAND_MIDDLEWARE names,
and every function registered with `before_enqueue`. Each receives a NewJob and returns it or another NewJob; it rejects
the job by raising InvalidJobError.
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
CheckFunction = TypeVar("CheckFunction", bound=Check)

_checks: list[Check] = []


@dataclass(frozen=True)
class Around:
    """The middleware of a handler, outermost first, and the factory of each attempt's context."""

    middleware: Sequence[Middleware] = ()
    context: Callable[[Job], Any] | None = None

    @classmethod
    def of(cls, module: ModuleType) -> "Around":
        """Read a module's `middleware` and `context`."""
        return cls(_several(module, "middleware"), getattr(module, "context", None))

    def run(self, job: Job, handler: Next) -> Any:
        """Call the handler inside its context and middleware."""
        call = handler
        for each in reversed(self.middleware):
            call = partial(_call, each, call)
        with self._context(job):
            return call(job)

    @contextmanager
    def _context(self, job: Job) -> Iterator[None]:
        """Make the attempt's context. A context manager is entered, and left when the attempt ends, however it ends."""
        if self.context is None:
            yield
            return
        context = self.context(job)
        if isinstance(context, AbstractContextManager):
            with context as job.context:
                yield
        else:
            job.context = context
            yield


def around(package: str) -> Around:
    """Return the middleware of a handler package: from MINUTEHAND_MIDDLEWARE, or from its `_middleware` module."""
    named = MIDDLEWARE.read()
    return Around.of(_module(named)) if named else _of_package(f"{package}._middleware")


def before_enqueue(check: CheckFunction) -> CheckFunction:
    """Register enqueue middleware for this process. Usable as a decorator."""
    _checks.append(check)
    return check


def prepare(job: NewJob) -> NewJob:
    """Return the job to enqueue after all enqueue middleware has run; raise what it raises."""
    named = MIDDLEWARE.read()
    for check in (*_checks, *(_several(_module(named), "enqueuing") if named else ())):
        before, job = job, check(job)
        if not isinstance(job, type(before)):
            raise InvalidJobError(
                "middleware_returns_a_job",
                f"enqueue middleware must return a NewJob, got {type(job).__name__}",
            )
    return job


def prepare_all(jobs: Iterable[NewJob]) -> Iterator[NewJob | InvalidJobError]:
    """Yield each job after enqueue middleware has run, or the error that rejected it."""
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


def _of_package(name: str) -> Around:
    module = import_optional(name)
    return Around.of(module) if module else Around()


@cache
def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"{MIDDLEWARE.name} must name a module that can be imported, got {name}: {error}"
        ) from error


def _several(module: ModuleType, name: str) -> Sequence[Any]:
    found = getattr(module, name, ())
    return (found,) if callable(found) else tuple(found)
