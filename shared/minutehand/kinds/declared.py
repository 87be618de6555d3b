"""Declared job: a function that can be called as it is, and enqueued with the same arguments.

A ParamSpec cannot be combined with keyword options in one signature (PEP 612), so type checkers check the arguments of
`enqueue` and the options of `options` separately. See docs/decisions.md.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, Unpack, cast, overload

from minutehand.database import AsyncConnectable, Connectable
from minutehand.enqueue import enqueue
from minutehand.kinds.declaration import RESERVED, Declaration
from minutehand.model.enqueued import Enqueued
from minutehand.model.job_options import JobOptions
from minutehand.model.new_job import NewJob
from minutehand.model.suggestion import suggestion

# The parameters of a call and of an enqueue, which has no job; what a call returns, and the result of the job.
Called = ParamSpec("Called")
Sent = ParamSpec("Sent")
Returned = TypeVar("Returned")
Result = TypeVar("Result")
Receipt = TypeVar("Receipt")


class Prepared(Generic[Sent, Receipt]):
    """A declared job with options for the jobs that it enqueues."""

    def __init__(self, declaration: Declaration, options: Mapping[str, Any]) -> None:
        """Remember the options."""
        self._declaration, self._options = declaration, options

    def enqueue(self, *args: Sent.args, **kwargs: Sent.kwargs) -> Receipt:
        """Enqueue a job with these arguments."""
        return cast(Receipt, _enqueue(self._declaration, self._options, args, kwargs))

    def new_job(self, *args: Sent.args, **kwargs: Sent.kwargs) -> NewJob:
        """Return the job without enqueuing it, for `enqueue_many`, a schedule or `on_dead`."""
        options = {name: value for name, value in self._options.items() if name != "connection"}
        return _new_job(self._declaration, options, args, kwargs)


class DeclaredJob(Generic[Called, Sent, Returned, Result]):
    """A function decorated with `job`."""

    def __init__(self, function: Callable[Called, Returned], declaration: Declaration) -> None:
        """Wrap the function."""
        self._function, self.declaration = function, declaration
        update_wrapper(self, function)

    @property
    def kind(self) -> str:
        """The kind of its jobs."""
        return self.declaration.kind

    def __call__(self, *args: Called.args, **kwargs: Called.kwargs) -> Returned:
        """Run the function here and now."""
        return self._function(*args, **kwargs)

    def enqueue(self, *args: Sent.args, **kwargs: Sent.kwargs) -> Enqueued[Result]:
        """Enqueue a job with these arguments.

        Options of the job and `connection` may be among the keywords, but type checkers accept them in `options` only.
        With an async connection this returns an awaitable.
        Raises PayloadError, and writes nothing, if the function cannot be called with the arguments.
        """
        options = {name: kwargs[name] for name in RESERVED.intersection(kwargs)}
        arguments = {name: value for name, value in kwargs.items() if name not in RESERVED}
        return cast("Enqueued[Result]", _enqueue(self.declaration, options, args, arguments))

    @overload
    def options(
        self, *, connection: AsyncConnectable, **options: Unpack[JobOptions]
    ) -> Prepared[Sent, Coroutine[Any, Any, Enqueued[Result]]]: ...
    @overload
    def options(
        self, *, connection: Connectable | None = None, **options: Unpack[JobOptions]
    ) -> Prepared[Sent, Enqueued[Result]]: ...
    def options(
        self, *, connection: Connectable | AsyncConnectable | None = None, **options: Unpack[JobOptions]
    ) -> Prepared[Sent, Any]:
        """Return this job with options, as in `welcome.options(delay=timedelta(days=3)).enqueue(email=...)`.

        With an async connection, its `enqueue` returns an awaitable.
        """
        if unknown := sorted(options.keys() - RESERVED):
            raise TypeError(unexpected("options", unknown[0], RESERVED))
        return Prepared(self.declaration, {**options, "connection": connection})

    def new_job(self, *args: Sent.args, **kwargs: Sent.kwargs) -> NewJob:
        """Return the job without enqueuing it, for `enqueue_many`, a schedule or `on_dead`."""
        return _new_job(self.declaration, {}, args, kwargs)


def unexpected(function: str, option: str, known: Iterable[str]) -> str:
    """Return the message about an option that a function does not have."""
    if option in RESERVED:
        return f"{function}() got an unexpected option {option!r}; set it for each job, in options() or enqueue()"
    close = suggestion(option, known) or f"; expected one of {', '.join(sorted(known))}"
    return f"{function}() got an unexpected option {option!r}{close}"


def _enqueue(
    declaration: Declaration, options: Mapping[str, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    payload = declaration.arguments.payload_of(args, kwargs)
    # `enqueue` checks it.
    enqueued: Any = enqueue(declaration.kind, payload, **{**declaration.options, **options})
    result_type = declaration.arguments.result_type
    if isinstance(enqueued, Enqueued):
        return replace(enqueued, result_type=result_type)
    return _await_with_type(enqueued, result_type)


async def _await_with_type(enqueued: Awaitable[Enqueued], result_type: Any) -> Enqueued:
    return replace(await enqueued, result_type=result_type)


def _new_job(
    declaration: Declaration, options: Mapping[str, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> NewJob:
    payload = declaration.arguments.payload_of(args, kwargs)
    declaration.arguments.check(payload)
    return declaration.new_job(payload, options)
