"""Attempts: a claimed job goes through the user's handler as a worker puts it there, and what came of it is kept."""

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from minutehand.handlers import Handler, Handlers, HandlerTable
from minutehand.job import Job
from minutehand.model.outcome import Cancel, Ending, OutOfTime, Snooze
from minutehand.model.row import Row
from minutehand.testing.expect import tell
from minutehand.work import run_jobs

AnyHandlers = Handlers | Mapping[str, Callable[..., Any]]
LEAVING = (OutOfTime, SystemExit, GeneratorExit)  # what would end the whole run of tests, were it raised
WENT_WRONG = ("retrying", "dead", "released", "superseded")


class AttemptFailed(AssertionError):
    """An attempt failed without an exception that a test could be given: its time was up, it left, no outcome fits."""


class StillDue(AssertionError):
    """A drain came to its bound, and jobs are due all the same."""


@dataclass(frozen=True)
class Attempt:
    """One attempt at a job: the row as it stands afterwards, and how it ended.

    `ending` is done, retrying, snoozed, dead, cancelled, released (no handler), superseded or lost. `error` is what
    the row keeps of a failure, `exception` what the handler raised.
    """

    job: Row
    ending: Ending
    error: dict[str, str] | None = None
    exception: BaseException | None = field(default=None, repr=False)

    @property
    def result(self) -> Any:
        """What the handler returned, as the row keeps it."""
        return self.job.result

    def raise_for_failure(self) -> None:
        """Raise what the handler raised, unless the attempt ended well or by Snooze or Cancel."""
        if self.ending not in WENT_WRONG or isinstance(self.exception, Snooze | Cancel):
            return
        if self.exception is None and self.error is None:
            return
        raise self._failure()

    def _failure(self) -> BaseException:
        said = f"attempt {self.job.attempts} of {tell(self.job)}"
        error = self.exception
        if error is not None and not isinstance(error, LEAVING):
            error.add_note(f"raised in {said}; with raising=False it is an ending like others")
            return error
        why = self.error or {"type": type(error).__name__, "message": str(error)}
        return AttemptFailed(f"{why['type']}: {why['message']} in {said}")


class Drained(tuple[Attempt, ...]):
    """The attempts of a drain, in order."""

    __slots__ = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many ended how, such as {"done": 2, "retrying": 1}."""
        return dict(Counter(attempt.ending for attempt in self))

    def of(self, kind: str) -> "Drained":
        """Those of one kind."""
        return Drained(attempt for attempt in self if attempt.job.kind == kind)


class Watched:
    """Handlers, and the latest exception that came out of one."""

    def __init__(self, handlers: AnyHandlers) -> None:
        """Watch a package's handlers, or functions by kind."""
        self._handlers = HandlerTable(handlers) if isinstance(handlers, Mapping) else handlers
        self.exception: BaseException | None = None

    def find(self, kind: str) -> Handler:
        """Return the kind's handler, watched."""
        with self._watching():
            found = self._handlers.find(kind)
        return _WatchedHandler(**vars(found), watching=self._watching)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.exception = error
            raise


@dataclass(frozen=True)
class _WatchedHandler(Handler):
    watching: Callable[[], Any] = nullcontext

    def __call__(self, job: Job) -> Any:
        with self.watching():
            return super().__call__(job)


def attempt(job: Job, handlers: AnyHandlers, row: Callable[[], Row]) -> Attempt:
    """Have a worker handle and finish a claimed job; `row` reads how it stands afterwards."""
    watched = Watched(handlers)
    with _leaving_the_alarm():
        (finish,) = run_jobs([job], watched, stopping=lambda: False)
    if type(watched.exception) is KeyboardInterrupt:  # somebody wants the run to end
        raise watched.exception
    return Attempt(row(), finish.ending, finish.error, watched.exception)


@contextmanager
def _leaving_the_alarm() -> Iterator[None]:
    """Set the alarm again that somebody else had set: a worker uses it, too, and so do limits of a test's time."""
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
