"""Group: the outcomes of short attempts, which are written together.

A group is written when

    50 ms have passed since its first attempt ended, or the lease of a member ends before that
    it has 100 outcomes, or results of 1 MB
    an attempt ended that took longer than 50 ms, or whose job has a key, with that attempt
    a handler begins `job.transaction()`
    the worker is stopping, or the chunk ends, if it can in one transaction with the next take

While a handler runs, a thread watches the time. A crash of the worker repeats the attempts of one group at most.
A resident worker has one group for all of its chunks, whose thread goes on between them: to start one for each chunk
takes as long as several attempts.
"""

import logging
import signal
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import replace
from math import inf
from threading import Event, Lock, RLock, Thread
from time import monotonic
from typing import Self

from minutehand.attempts import time_limit
from minutehand.attempts.claimed import Claim
from minutehand.attempts.ending import Ahead
from minutehand.attempts.successors import wake_successors
from minutehand.claimed_job import Job
from minutehand.database import Database
from minutehand.errors import MinutehandError
from minutehand.finish import finish_all
from minutehand.model.outcome import DONE, Finish, Outcome

# How long the outcome of a short attempt may wait, and how long such an attempt takes at most. Between two attempts,
# it is written after half of this time, so that the thread is rarely needed.
SECONDS = 0.05
# After an error, each pause before the next try is twice as long, up to this.
LONGEST_PAUSE = 5.0
# After how many of these pauses without an outcome the thread ends: a second.
MOST_IDLE_PAUSES = 20
# `finish_done` compares each id with all others.
MOST_OUTCOMES = 100
MOST_CHARACTERS = 1_000_000

logger = logging.getLogger(__name__)


# Gets a job, its finish and the seconds of its attempt, once its outcome is written.
Record = Callable[[Job, Finish, float], None]


# An attempt that has ended, and the context variables in which its events are emitted; None if nothing gets them. A
# tuple, because creating an object of a class takes longer.
Member = tuple[Job, Outcome, float, Record, Context | None]


class Group:
    """The outcomes of a chunk that have not been written. One thread adds to it, and another one may write it."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Create an empty group, for the outcomes of one chunk after the other."""
        self._clock = clock
        self._members: dict[Job, Member] = {}
        self._due = inf
        self._characters = 0
        self._pause = SECONDS
        self._writing = RLock()
        # On which a thread writes. It changes only while none writes.
        self._database: Database | None = None
        self._ended = Event()
        # Guards the members and their limits, and whether a thread watches the time.
        self._state = Lock()
        self._watching, self._idle_pauses = False, 0

    def __contains__(self, job: Job) -> bool:
        """Whether a job's outcome waits to be written."""
        return job in self._members

    def __len__(self) -> int:
        """Return the number of outcomes that wait to be written."""
        return len(self._members)

    def add(
        self, job: Job, outcome: Outcome, seconds: float, record: Record, context: Context | None = None
    ) -> bool:
        """Add the outcome of an attempt that took some seconds. Return whether the group must be written now."""
        now = self._clock()
        with self._state:
            self._members[job] = (job, outcome, seconds, record, context)
            self._due = min(self._due, now + SECONDS, job.lease.holds_until)
            if outcome is not DONE:
                self._characters += len(_result(outcome))
            is_due = (
                seconds > SECONDS
                # Its key may be free for the next handler.
                or job.key is not None
                or now >= self._due - SECONDS / 2
                # Those that another thread is writing count, so that a crash repeats no more.
                or len(self._members) >= MOST_OUTCOMES
                or self._characters >= MOST_CHARACTERS
            )
            if is_due:
                self._begin()
        return is_due

    def _begin(self) -> None:
        """Begin the next group, while the members of this one are being written."""
        self._due, self._characters = inf, 0

    def write(self, database: Database | None = None, ahead: Ahead | None = None) -> None:
        """Write the outcomes, on another connection if one is given, and together with `ahead`.

        Those that could not be written because of an error, which is raised, remain.
        """
        with self._writing:
            with self._state:
                members = list(self._members.values())
                self._begin()
            try:
                finishes = self._write(members, database, ahead)
                self._pause = SECONDS
            except BaseException:
                with self._state:
                    # For those that are left.
                    self._pause = min(2 * self._pause, LONGEST_PAUSE)
                    self._due = min(self._due, self._clock() + self._pause)
                raise
            if members:
                wake_successors(members[0][0].database if database is None else database, finishes)

    def _write(
        self, members: Sequence[Member], database: Database | None, ahead: Ahead | None
    ) -> list[Finish]:
        """Write the outcomes of members, and remove those that are written, also before an error."""
        finishes: list[Finish] = []
        claims: list[tuple[Claim, Outcome]] = [
            (member[0] if database is None else _on(member[0], database), member[1]) for member in members
        ]
        for place, finish in finish_all(claims, ahead):
            job, _, seconds, record, context = members[place]
            # First, so that it is never counted as a member and as a job that has ended. One step, which needs no lock.
            del self._members[job]
            finishes.append(finish)
            if context is None:
                record(job, finish, seconds)
            else:
                context.run(record, job, finish, seconds)
        return finishes

    def watch(self, database: Database) -> None:
        """Let a thread write the outcomes in time on this connection, because a handler runs."""
        if database is not self._database:
            # A handler with another connection must not run while the thread writes: a transaction of it could wait for
            # the thread, and the thread for the transaction.
            with self._writing:
                self._database = database
        if not self._members or self._watching:
            return
        with self._state:
            if not self._watching:
                self._watching, self._idle_pauses = True, 0
                Thread(target=self._write_in_time, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop watching."""
        self._ended.set()

    def _write_in_time(self) -> None:
        # The main thread handles the signals, also when it waits in a system call.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while self._needs_watching():
            with time_limit.watched():
                self._ended.wait(min(max(0.0, self._due - self._clock()), SECONDS))
            if self._clock() >= self._due:
                self._write_between_transactions()

    def _needs_watching(self) -> bool:
        """Decide in one step whether the thread goes on, so that the next outcome gets another one if it does not."""
        with self._state:
            self._idle_pauses = 0 if self._members else self._idle_pauses + 1
            self._watching = self._idle_pauses <= MOST_IDLE_PAUSES and not self._ended.is_set()
            return self._watching

    def _write_between_transactions(self) -> None:
        """Write the outcomes, unless a handler has a transaction, whose part they must not become.

        After an error, and while there is a transaction, this is tried again later.
        """
        with self._state:
            self._due = self._clock() + SECONDS
        try:
            with self._writing:
                if (database := self._database) is not None and not database.in_transaction:
                    self.write(database)
        except MinutehandError as error:
            logger.warning("the outcomes of a group could not be written yet: %s", error)
        except Exception:
            # The worker's own write raises it again, if it lasts.
            logger.exception("the outcomes of a group could not be written yet")


def _on(job: Job, database: Database) -> Claim:
    if database is job.lease.database:
        return job
    return replace(job, lease=replace(job.lease, database=database))


def _result(outcome: Outcome) -> str:
    return getattr(outcome, "result", None) or ""
