"""Attempts: run a claimed job with the user's handler, as a worker does, and return the result."""

import signal
import threading
from asyncio import CancelledError
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand.attempts.in_turn import run_jobs
from minutehand.claimed_job import Job
from minutehand.handlers import Handler, Handlers, HandlerTable
from minutehand.model.outcome import Cancel, Ending, OutOfTime, Snooze
from minutehand.model.row import Row
from minutehand.testing.expect import describe

AnyHandlers = Handlers | Mapping[str, Callable[..., Any]]
# Exceptions that would end the whole test run if they were raised again.
EXITS = (OutOfTime, SystemExit, GeneratorExit, CancelledError)
UNSUCCESSFUL = ("retrying", "dead", "released", "superseded")


class AttemptFailed(AssertionError):
    """An attempt failed without an exception to raise in the test: a timeout, an exit or an invalid outcome."""


class StillDue(AssertionError):
    """A drain reached its limit, and jobs are still due."""


@dataclass(frozen=True)
class Attempt:
    """One attempt at a job: the row after it, and how it ended.

    `ending` is done, retrying, snoozed, dead, cancelled, released (no handler), superseded or lost. `error` is the
    failure as stored in the row, `exception` the exception that the handler raised.
    """

    job: Row
    ending: Ending
    error: dict[str, str] | None = field(default=None, repr=False)
    exception: BaseException | None = field(default=None, repr=False)

    @property
    def result(self) -> Any:
        """The handler's return value, as stored in the row."""
        return self.job.result

    def raise_for_failure(self) -> None:
        """Raise the handler's exception, unless it was Snooze or Cancel and ended the attempt.

        An exception after `job.transaction()` is raised too, although the job is done.
        """
        if self.ending == "done" and self.exception is not None:
            raise self._failure()
        if self.ending not in UNSUCCESSFUL or isinstance(self.exception, Snooze | Cancel):
            return
        if self.exception is None and self.error is None:
            return
        raise self._failure()

    def _failure(self) -> BaseException:
        place = f"attempt {self.job.attempts} of {describe(self.job)}"
        error = self.exception
        if error is not None and not isinstance(error, EXITS):
            error.add_note(f"raised in {place}; pass raising=False to get it as an ending")
            return error
        reason = self.error or {"type": type(error).__name__, "message": str(error)}
        return AttemptFailed(f"{reason['type']}: {reason['message']} in {place}")


class Drained(tuple[Attempt, ...]):
    """The attempts of a drain, in order."""

    __slots__ = ()

    @property
    def counts(self) -> dict[str, int]:
        """The number of attempts by ending, such as {"done": 2, "retrying": 1}."""
        return dict(Counter(attempt.ending for attempt in self))

    def of(self, kind: str) -> "Drained":
        """Return the attempts of one kind."""
        return Drained(attempt for attempt in self if attempt.job.kind == kind)


class Watched:
    """Handlers, and the exceptions that they raised."""

    def __init__(self, handlers: AnyHandlers) -> None:
        """Watch the handlers of a package, or functions by kind."""
        self._handlers = HandlerTable(handlers) if isinstance(handlers, Mapping) else handlers
        # By the job's id, or by the kind whose handler was not found.
        self._exceptions: dict[UUID | str, BaseException] = {}

    def find(self, kind: str) -> Handler:
        """Return the kind's handler, watched."""
        with self._watching(kind):
            found = self._handlers.find(kind)
        return _WatchedHandler(**vars(found), watching=self._watching)

    def exception(self, job: Job) -> BaseException | None:
        """Return the exception that ended the attempt."""
        return self._exceptions.get(job.id, self._exceptions.get(job.kind))

    @contextmanager
    def _watching(self, key: UUID | str) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self._exceptions[key] = error
            raise


@dataclass(frozen=True)
class _WatchedHandler(Handler):
    watching: Callable[[UUID], Any] = nullcontext

    def __call__(self, job: Job) -> Any:
        with self.watching(job.id):
            return super().__call__(job)

    async def run_async(self, job: Job) -> Any:
        with self.watching(job.id):
            return await super().run_async(job)


def attempts(
    jobs: Sequence[Job], handlers: AnyHandlers, row: Callable[[UUID], Row], concurrency: int = 1
) -> list[Attempt]:
    """Handle and finish claimed jobs as a worker does; `row` reads a row afterwards."""
    watched = Watched(handlers)
    with _preserve_alarm():
        finishes = run_jobs(jobs, watched, stopping=lambda: False, concurrency=concurrency)
    for job in jobs:
        if type(error := watched.exception(job)) is KeyboardInterrupt:
            raise error
    return [
        Attempt(row(job.id), finish.ending, finish.error, watched.exception(job))
        for job, finish in zip(jobs, finishes, strict=True)
    ]


def run_in_loop(kind: str, handlers: AnyHandlers) -> bool:
    """Return whether jobs of a kind may run at the same time; what prevents that is raised in an attempt."""
    try:
        return Watched(handlers).find(kind).runs_in_loop
    except Exception:
        return False


@contextmanager
def _preserve_alarm() -> Iterator[None]:
    """Restore the alarm that was set before, such as by a test timeout; a worker uses the same alarm."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    left, interval = signal.getitimer(signal.ITIMER_REAL)
    began = monotonic()
    try:
        yield
    finally:
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (monotonic() - began), 0.001), interval)
