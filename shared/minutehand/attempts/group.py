"""Group: the outcomes of short attempts, which are written together.

A group is written when

    50 ms have passed since its first attempt ended, or the lease of a member ends before that
    it has 100 outcomes, or results of 1 MB
    an attempt ended that took longer than 50 ms, with that attempt
    a handler begins `job.transaction()`
    the worker is stopping, or the chunk ends

While a handler runs, a thread watches the time. A crash of the worker repeats the attempts of one group at most.
"""

import logging
import signal
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass
from math import inf
from threading import Event, Lock, RLock, Thread
from time import monotonic

from minutehand.claimed_job import Job
from minutehand.errors import MinutehandError
from minutehand.finish import finish_all
from minutehand.model.outcome import Finish, Outcome

# How long the outcome of a short attempt may wait, and how long such an attempt takes at most.
SECONDS = 0.05
MOST_OUTCOMES = 100
MOST_CHARACTERS = 1_000_000

logger = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Member:
    """An attempt that has ended, and the context variables in which its events are emitted."""

    job: Job
    outcome: Outcome
    seconds: float
    context: Context


Record = Callable[[Job, Finish, float], None]


class Group:
    """The outcomes of a chunk that have not been written. One thread adds to it, and another one may write it."""

    def __init__(self, record: Record, clock: Callable[[], float] = monotonic) -> None:
        """Call `record` with each job, its finish and the seconds of its attempt, once its outcome is written."""
        self._record, self._clock = record, clock
        self._members: dict[Job, Member] = {}
        self._due = inf
        self._characters = 0
        self._writing = RLock()
        self._ended = Event()
        self._error: Exception | None = None
        # Guards whether a thread watches the time.
        self._watch = Lock()
        self._watching = False

    def __contains__(self, job: Job) -> bool:
        """Whether a job's outcome waits to be written."""
        return job in self._members

    def add(self, job: Job, outcome: Outcome, seconds: float) -> bool:
        """Add the outcome of an attempt that took some seconds. Return whether the group must be written now."""
        now = self._clock()
        self._due = min(self._due if self._members else inf, now + SECONDS, job.lease.holds_until)
        self._characters = (self._characters if self._members else 0) + len(_result(outcome))
        self._members[job] = Member(job, outcome, seconds, copy_context())
        return (
            seconds > SECONDS
            or now >= self._due
            or len(self._members) >= MOST_OUTCOMES
            or self._characters >= MOST_CHARACTERS
        )

    def write(self) -> None:
        """Write the outcomes. Those that could not be written because of an error, which is raised, remain."""
        with self._writing:
            error, self._error = self._error, None
            if error is not None:
                raise error
            members = list(self._members.values())
            for place, finish in finish_all([(member.job, member.outcome) for member in members]):
                self._written(members[place], finish)

    def _written(self, member: Member, finish: Finish) -> None:
        try:
            member.context.run(self._record, member.job, finish, member.seconds)
        finally:
            del self._members[member.job]

    def watch(self) -> None:
        """Let a thread write the outcomes in time, because a handler begins."""
        with self._watch:
            if self._members and not self._watching:
                self._watching = True
                Thread(target=self._write_in_time, daemon=True).start()

    def end(self) -> None:
        """Stop watching."""
        self._ended.set()

    def _write_in_time(self) -> None:
        # The main thread handles the signals, also when it waits in a system call.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while self._needs_watching():
            self._ended.wait(max(0.0, self._due - self._clock()))
            if self._clock() >= self._due:
                # After an error, or while the handler has a transaction, this tries again later.
                self._due = self._clock() + SECONDS
                self._write_between_transactions()

    def _needs_watching(self) -> bool:
        """Decide in one step whether the thread goes on, so that the next group gets another one if it does not."""
        with self._watch:
            self._watching = bool(self._members) and not self._ended.is_set()
            return self._watching

    def _write_between_transactions(self) -> None:
        """Write the outcomes, unless the handler has a transaction, whose part they must not become."""
        members = list(self._members.values())
        try:
            if members and not members[0].job.database.in_transaction:
                self.write()
        except MinutehandError:
            logger.warning("outcomes of finished attempts could not be written yet", exc_info=True)
        except Exception as error:
            self._error = error


def _result(outcome: Outcome) -> str:
    return getattr(outcome, "result", None) or ""
