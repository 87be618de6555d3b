"""Outcome: how an attempt ends, and the exceptions with which a handler chooses it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, Self
from uuid import UUID

from minutehand.model.set_at_once import set_at_once


class Snooze(Exception):
    """Raise it to run the job again later. The attempt does not count."""

    def __init__(self, delay: timedelta) -> None:
        """Snooze for a delay."""
        if not isinstance(delay, timedelta):
            raise TypeError(f"delay must be a timedelta, got {delay!r}")
        super().__init__(f"snoozed for {delay}")
        self.delay = delay


class Cancel(Exception):
    """Raise it to end the job as cancelled."""


class Fail(Exception):
    """Raise it to end the job as dead, without further attempts. `result` is stored as the progress so far."""

    # Also of a subclass that does not call __init__.
    result: object = None

    def __init__(self, *message: object, result: object = None) -> None:
        """Fail with a message and an optional result."""
        super().__init__(*message)
        self.result = result


class RetryAfter(Exception):
    """Raise it to fail this attempt and choose the time of the next one, like a `Retry-After` header.

    If the job has a group, no job of the group starts until then.
    """

    result: object = None

    def __init__(
        self, after: timedelta | datetime, message: str = "retry later", *, result: object = None
    ) -> None:
        """Retry after a timedelta, or at an aware datetime. `result` is stored as the progress so far."""
        if not isinstance(after, timedelta) and (
            not isinstance(after, datetime) or after.utcoffset() is None
        ):
            raise TypeError(f"after must be a timedelta or an aware datetime, got {after!r}")
        super().__init__(message)
        self.after, self.result = after, result

    @property
    def delay(self) -> timedelta:
        """The delay from now; zero if the time has passed."""
        if isinstance(self.after, timedelta):
            return max(self.after, timedelta())
        return max(self.after - datetime.now(UTC), timedelta())


class Interrupted(KeyboardInterrupt):
    """Raised by a worker's signal handler to release the current job."""


class OutOfTime(KeyboardInterrupt):
    """Raised in a handler at the attempt's deadline.

    Not an Exception, so that handlers do not swallow it; a KeyboardInterrupt, so that psycopg cancels a running query.
    """


# The type, the message and, if there is one, the trace. In a job that is done, `stage` names the failure: `result` if
# the result could not be stored, `after` if the handler failed after its transaction.
Error = dict[str, str]


@dataclass(frozen=True)
class DroppedResult:
    """The return value of a handler whose result could not be transferred. The job is done."""

    reason: str


@dataclass(frozen=True)
class Done:
    """The handler returned. `result` is JSON text; `error` explains why a result could not be stored."""

    result: str | None = field(default=None, repr=False)
    error: Error | None = field(default=None, repr=False)


# The outcome of most handlers.
DONE = Done()


@dataclass(frozen=True)
class Failed:
    """The handler failed. The job is retried after `delay`, or by its strategy; if `final`, it is dead.

    `result` is the progress so far, as JSON text. The job's group, if it has one, starts no job for `hold`.
    """

    error: Error = field(repr=False)
    delay: timedelta | None = None
    final: bool = False
    result: str | None = field(default=None, repr=False)
    hold: timedelta | None = None


@dataclass(frozen=True)
class Snoozed:
    """The handler snoozed the job; the attempt does not count."""

    delay: timedelta


@dataclass(frozen=True)
class Cancelled:
    """The handler cancelled the job."""

    error: Error = field(repr=False)
    result: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Released:
    """The worker releases the job without an attempt, optionally with an error to show."""

    delay: timedelta = timedelta()
    error: Error | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Settled:
    """The handler completed the job in its own transaction.

    `result`, as JSON text, and `error` come from the code after the transaction. They are added to the row, and do not
    change how the job ended.
    """

    finish: "Finish"
    result: str | None = field(default=None, repr=False)
    error: Error | None = field(default=None, repr=False)


Outcome = Done | Failed | Snoozed | Cancelled | Released | Settled

Ending = Literal["done", "dead", "cancelled", "retrying", "snoozed", "released", "superseded", "lost"]


@set_at_once
@dataclass(frozen=True)
class Finish:
    """How an attempt ended. `visible` is the time at which the job comes back, if it does.

    `next` is the next occurrence of a recurring job, and `on_dead` the job that its death creates. Both are created in
    the same statement. `at` is the time of the write, and of a job that ended, `result` the stored result as JSON text.
    `awaited` says whether other jobs run after it. `next_at` is the time of the next occurrence, and `batch` the batch
    of a job that ended.
    """

    ending: Ending
    visible: datetime | None = None
    error: Error | None = field(default=None, repr=False)
    next: UUID | None = None
    on_dead: UUID | None = None
    at: datetime | None = None
    result: str | None = field(default=None, repr=False)
    awaited: bool = False
    next_at: datetime | None = None
    batch: UUID | None = None

    @classmethod
    def of_done(cls, at: datetime, awaited: bool, batch: UUID | None) -> Self:
        """Return the finish of a job that is done without a result, in a third of the time of `Finish(...)`."""
        finish = object.__new__(cls)
        vars(finish).update(ending="done", at=at, awaited=awaited, batch=batch)
        return finish
