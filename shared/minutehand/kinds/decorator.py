"""The decorator `job`.

@job(queue="mail", max_attempts=5)
def welcome(email: str, plan: str = "free") -> Receipt: ...

welcome("ada@example.com")
welcome.enqueue(email="ada@example.com")
"""

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, Concatenate, Protocol, TypeVar, Unpack, overload

from minutehand.claimed_job import AsyncJob, Job
from minutehand.kinds import registry
from minutehand.kinds.declaration import Declaration
from minutehand.kinds.declared import DeclaredJob, Sent, unexpected
from minutehand.model.job_options import KindOptions

Result = TypeVar("Result")


class Decorator(Protocol):
    """Makes a job of a function, which may be async and may take the Job, or the AsyncJob, as its first parameter."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[Job, Sent], Coroutine[Any, Any, Result]], /
    ) -> DeclaredJob[Concatenate[Job, Sent], Sent, Coroutine[Any, Any, Result], Result]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[AsyncJob, Sent], Coroutine[Any, Any, Result]], /
    ) -> DeclaredJob[Concatenate[AsyncJob, Sent], Sent, Coroutine[Any, Any, Result], Result]: ...
    @overload
    def __call__(
        self, function: Callable[Sent, Coroutine[Any, Any, Result]], /
    ) -> DeclaredJob[Sent, Sent, Coroutine[Any, Any, Result], Result]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Job, Sent], Result], /
    ) -> DeclaredJob[Concatenate[Job, Sent], Sent, Result, Result]: ...
    @overload
    def __call__(self, function: Callable[Sent, Result], /) -> DeclaredJob[Sent, Sent, Result, Result]: ...


@overload
def job(
    function: Callable[Concatenate[Job, Sent], Coroutine[Any, Any, Result]], /
) -> DeclaredJob[Concatenate[Job, Sent], Sent, Coroutine[Any, Any, Result], Result]: ...
@overload
def job(
    function: Callable[Concatenate[AsyncJob, Sent], Coroutine[Any, Any, Result]], /
) -> DeclaredJob[Concatenate[AsyncJob, Sent], Sent, Coroutine[Any, Any, Result], Result]: ...
@overload
def job(
    function: Callable[Sent, Coroutine[Any, Any, Result]], /
) -> DeclaredJob[Sent, Sent, Coroutine[Any, Any, Result], Result]: ...
@overload
def job(
    function: Callable[Concatenate[Job, Sent], Result], /
) -> DeclaredJob[Concatenate[Job, Sent], Sent, Result, Result]: ...
@overload
def job(function: Callable[Sent, Result], /) -> DeclaredJob[Sent, Sent, Result, Result]: ...
@overload
def job(
    *,
    kind: str | None = None,
    every: str | timedelta | None = None,
    zone: str | None = None,
    **options: Unpack[KindOptions],
) -> Decorator: ...
def job(
    function: Callable[..., Any] | None = None,
    /,
    *,
    kind: str | None = None,
    every: str | timedelta | None = None,
    zone: str | None = None,
    **options: Any,
) -> Any:
    """Declare a function as the handler of a kind: its name, unless `kind` is given.

    `options` are defaults for the jobs that are enqueued through the function. `every`, a cron expression, `@daily`, an
    ISO 8601 duration or a timedelta, in the time zone `zone`, is a schedule that the dispatcher installs at a deploy.
    Raises InvalidHandlerError if a parameter has the name of an option, or if another function has the kind.
    """
    if unknown := sorted(options.keys() - KindOptions.__annotations__.keys()):
        raise TypeError(unexpected("job", unknown[0], KindOptions.__annotations__))

    def declare(function: Callable[..., Any]) -> DeclaredJob[..., ..., Any, Any]:
        declaration = Declaration.of(function, kind, options, every, zone)
        registry.register(declaration)
        return DeclaredJob(function, declaration)

    return declare if function is None else declare(function)
