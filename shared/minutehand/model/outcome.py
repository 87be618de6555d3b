"""How an attempt can end: what a handler raises to say so, and what the worker then hands to `finish`."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID


class Snooze(Exception):
    """Raise it to have the job back later; the attempt does not count."""

    def __init__(self, delay: timedelta) -> None:
        """Snooze for this long; TypeError for what is no timedelta."""
        if not isinstance(delay, timedelta):
            raise TypeError(f"Snooze takes a timedelta, not {delay!r}")
        super().__init__(f"snoozed for {delay}")
        self.delay = delay


class Cancel(Exception):
    """Raise it to end the job as cancelled: it is no longer wanted."""


class Fail(Exception):
    """Raise it to end the job as dead at once: no further attempt can help. `result` is kept: what it had so far."""

    def __init__(self, *message: object, result: object = None) -> None:
        """Fail with a message, and perhaps with a result."""
        super().__init__(*message)
        self.result = result


class RetryAfter(Exception):
    """Raise it to fail this attempt and name the next one's moment, as a `Retry-After` header does."""

    def __init__(
        self, after: timedelta | datetime, message: str = "asked to come back later", *, result: object = None
    ) -> None:
        """Retry after a delay, or at an aware moment; TypeError for anything else. `result` is what it had so far."""
        if not isinstance(after, timedelta) and (
            not isinstance(after, datetime) or after.utcoffset() is None
        ):
            raise TypeError(f"RetryAfter takes a timedelta or an aware datetime, not {after!r}")
        super().__init__(message)
        self.after, self.result = after, result

    @property
    def delay(self) -> timedelta:
        """The delay from now; a moment in the past is no delay."""
        if isinstance(self.after, timedelta):
            return max(self.after, timedelta())
        return max(self.after - datetime.now(UTC), timedelta())


class Interrupted(KeyboardInterrupt):
    """Raised by a worker's own signal handler, to have the job that it is at given back."""


class OutOfTime(KeyboardInterrupt):
    """Raised inside a handler when its attempt's time is up.

    Not an Exception, so that no handler swallows it; an interrupt, so that psycopg cancels the query it waits for.
    """


Error = dict[str, str]


@dataclass(frozen=True)
class Done:
    """The handler returned; `result` is JSON text, `error` says why a result could not be kept."""

    result: str | None = None
    error: Error | None = None


@dataclass(frozen=True)
class Failed:
    """The handler failed: to be retried after `delay` (or the job's strategy), or dead at once if `final`.

    `result` is what it had so far, as JSON text.
    """

    error: Error
    delay: timedelta | None = None
    final: bool = False
    result: str | None = None


@dataclass(frozen=True)
class Snoozed:
    """The handler wants the job back later, and the attempt did not count."""

    delay: timedelta


@dataclass(frozen=True)
class Cancelled:
    """The handler said that the job is no longer wanted."""

    error: Error
    result: str | None = None


@dataclass(frozen=True)
class Released:
    """The worker gives the job back unbegun, for now or (with an error to show) for a while."""

    delay: timedelta = timedelta()
    error: Error | None = None


@dataclass(frozen=True)
class Settled:
    """The handler finished the job itself, in its own transaction."""


Outcome = Done | Failed | Snoozed | Cancelled | Released | Settled

Ending = Literal["done", "dead", "cancelled", "retrying", "snoozed", "released", "superseded", "lost"]


@dataclass(frozen=True)
class Finish:
    """What the queue made of an attempt, and for a job that comes back, when.

    `next` is the next occurrence of a job that recurs, born with the end of this one.
    """

    ending: Ending
    visible: datetime | None = None
    error: Error | None = None
    next: UUID | None = None
