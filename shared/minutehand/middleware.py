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

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from minutehand.calling.binding import check_runs, is_async, name_of
from minutehand.claimed_job import Job
from minutehand.errors import ConfigurationError, InvalidHandlerError
from minutehand.settings.table import MIDDLEWARE

if TYPE_CHECKING:
    from minutehand.model.new_job import NewJob

Next = Callable[[Job], Any]
Middleware = Callable[[Job, Next], Any]
ContextFactory = Callable[[Job], Any]
Check = Callable[["NewJob"], "NewJob"]
CheckFunction = TypeVar("CheckFunction", bound=Check)

_checks: list[Check] = []


@dataclass(frozen=True)
class Around:
    """The middleware of a handler, outermost first, and the factory of each attempt's context."""

    middleware: Sequence[Middleware] = ()
    context: ContextFactory | None = None

    def __post_init__(self) -> None:
        """Raise InvalidHandlerError for generator functions, which would not run."""
        for each in self.middleware:
            check_runs(each, "middleware", "return the result of call_next")
        if self.context is not None:
            check_runs(self.context, "context", "decorate it with contextlib.contextmanager")

    @classmethod
    def of(cls, module: ModuleType) -> "Around":
        """Read a module's `middleware` and `context`."""
        return cls(_several(module, "middleware"), getattr(module, "context", None))

    def check_order(self, handler: Callable[..., Any]) -> None:
        """Raise InvalidHandlerError if other middleware stands between async middleware and an async handler."""
        _, within = self._parts
        between = [each for each in within if not is_async(each)]
        if between and is_async(handler):
            raise InvalidHandlerError(
                f"middleware {name_of(between[0])} must be async or come before {name_of(within[0])}, "
                f"because {name_of(handler)} is async"
            )

    def run(self, job: Job, handler: Next) -> Any:
        """Call the handler inside its context and middleware. Async parts run in the event loop."""
        if not self.middleware and self.context is None:
            return _complete(handler, job)
        before, within = self._parts
        made = None if self.context is None else self.context(job)
        call = _wrap(within, handler)
        if enters_async := _is_async_context(made):
            call = partial(_within_async_context, made, call)
        call = _wrap(before, partial(_complete, call))
        try:
            with nullcontext() if enters_async else _entered(job, made):
                return call(job)
        finally:
            # Middleware may have ended the attempt before it was awaited.
            if inspect.iscoroutine(made):
                made.close()

    async def run_async(self, job: Job, handler: Next) -> Any:
        """Call the handler inside its context and middleware, in the caller's event loop."""
        call = _wrap(self._parts[1], handler)
        if self.context is None:
            return await _await(call, job)
        return await _within_async_context(self.context(job), call, job)

    @property
    def runs_in_loop(self) -> bool:
        """Whether no middleware has to run outside of the event loop."""
        return not self._parts[0]

    @cached_property
    def _parts(self) -> tuple[Sequence[Middleware], Sequence[Middleware]]:
        """Return the middleware before the first async one, and the rest, which runs in the event loop."""
        first = next((n for n, each in enumerate(self.middleware) if is_async(each)), len(self.middleware))
        return self.middleware[:first], self.middleware[first:]


def _wrap(middleware: Sequence[Middleware], call: Next) -> Next:
    for each in reversed(middleware):
        call = partial(_call, each, partial(_await, call) if is_async(each) else call)
    return call


def _call(middleware: Middleware, call_next: Next, job: Job) -> Any:
    return middleware(job, call_next)


async def _await(call: Next, job: Job) -> Any:
    result = call(job)
    return await result if inspect.iscoroutine(result) else result


def _complete(call: Next, job: Job) -> Any:
    """Call a handler, and run its coroutine to the end if it is async."""
    result = call(job)
    if not inspect.iscoroutine(result):
        return result
    # Imported only when used, for the sake of cold starts.
    from minutehand.calling.event_loop import run

    return run(result)


def _is_async_context(made: Any) -> bool:
    return inspect.iscoroutine(made) or (
        isinstance(made, AbstractAsyncContextManager) and not isinstance(made, AbstractContextManager)
    )


@contextmanager
def _entered(job: Job, made: Any) -> Iterator[None]:
    """Set the attempt's context. A context manager is entered, and left when the attempt ends, however it ends."""
    if isinstance(made, AbstractContextManager):
        with made as job.context:
            yield
    else:
        job.context = made
        yield


async def _within_async_context(made: Any, call: Next, job: Job) -> Any:
    """Call the handler in an async context: a coroutine that returns it, or an async context manager."""
    context = await made if inspect.iscoroutine(made) else made
    if isinstance(context, AbstractAsyncContextManager):
        async with context as job.context:
            return await _await(call, job)
    with _entered(job, context):
        return await _await(call, job)


def around(package: str) -> Around:
    """Return the middleware of a handler package: from MINUTEHAND_MIDDLEWARE, or from its `_middleware` module."""
    named = MIDDLEWARE.read()
    return Around.of(_module(named)) if named else _of_package(f"{package}._middleware")


def before_enqueue(check: CheckFunction) -> CheckFunction:
    """Register enqueue middleware for this process. Usable as a decorator."""
    _refuse_async(check)
    _checks.append(check)
    return check


def enqueue_middleware() -> Sequence[Check]:
    """Return the enqueue middleware of this process; raise ConfigurationError if some is async."""
    named = MIDDLEWARE.read()
    checks = (*_checks, *(_several(_module(named), "enqueuing") if named else ()))
    for each in checks:
        _refuse_async(each)
    return checks


def _refuse_async(check: Check) -> None:
    """Raise ConfigurationError for async middleware: sync and async calls of `enqueue` run the same functions."""
    if is_async(check):
        raise ConfigurationError(f"enqueue middleware must not be async, got {name_of(check)}")


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
