"""Taker: the takes of a resident worker, each of the queue whose turn it is."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from math import inf
from time import monotonic
from typing import Any

from minutehand.attempts.ending import Ahead
from minutehand.claim import ANY_TIME_AND_SLOT, taken
from minutehand.claimed_job import Job
from minutehand.database import Database, Record
from minutehand.errors import ConflictError
from minutehand.model.looked import SECONDS as LOOK_SECONDS
from minutehand.model.looked import Looked
from minutehand.model.reached import BEGINNING, MOST_QUEUES, After, Reached
from minutehand.model.turns import Turns
from minutehand.model.worker import UNNAMED, Worker
from minutehand.tracing import spans

# After `take_ahead` found nothing but `take` did, only `take` runs for the same queue, for this many seconds.
ONLY_TAKE_SECONDS = 1.0


@dataclass
class Taker:
    """Takes up to `limit` due jobs at a time for a resident worker, each time of the queue whose turn it is."""

    database: Database
    turns: Turns
    limit: int
    lease: timedelta
    grace: timedelta
    worker: Worker = UNNAMED
    # Whether spans are recorded; the setting is not read for each take.
    traced: bool = field(default_factory=spans.are_recorded)
    # None if each take must find all due jobs.
    looked: Looked | None = None
    # The time that the worker has left, which no timeout of a job exceeds; None if it has no end.
    longest: timedelta | None = None
    _ahead: Ahead | None = None
    _queue: str = ""
    # Where the take ahead begins, and how far those before it came.
    _after: After = field(default_factory=lambda: BEGINNING)
    _behind: str | None = None
    # How long to wait at most after a take that found nothing.
    _longest_wait: float = inf
    _reached: Reached = field(default_factory=Reached)
    # The queues for which `take_ahead` finds nothing, and until when it is not tried, in monotonic seconds.
    _only_take_until: dict[str, float] = field(default_factory=dict)

    def ahead(self) -> Ahead | None:
        """Return the statement that takes the next jobs, to run with the last outcomes of the worker's jobs.

        There is none if the next queue is not known, if it is time to look for its first due job, or if spans are
        recorded, which report each take.
        """
        queue = self.turns.next()
        if queue is None or self._ahead is not None or self.traced:
            return None
        self._queue, self._after = queue, self._reached.after(queue)
        if self._after is BEGINNING and queue in self._reached:
            # The method `take` looks for the first due job.
            return None
        only_take = monotonic() < self._only_take_until.get(queue, 0.0)
        name, place = ("take", ANY_TIME_AND_SLOT) if only_take else ("take_ahead", self._after)
        self._behind = self._find_behind(queue)
        self._ahead = Ahead(name, {**self._limits(queue), **place, "behind": self._behind})
        return self._ahead

    @property
    def longest_wait(self) -> float:
        """The most seconds to wait after a take that found nothing: if it relied on a look, the next may find jobs."""
        return self._longest_wait

    def take(self) -> list[Job]:
        """Return the jobs that were taken ahead, or take some of the queue that is next.

        If other workers have the jobs of a queue, those of the one after it.
        """
        ahead, self._longest_wait = self._ahead, inf
        if jobs := self.taken_ahead():
            return jobs
        jobs = self._take_in_turns()
        if jobs and jobs[0].queue == self._queue and self._needs_take(ahead):
            if len(self._only_take_until) >= MOST_QUEUES:
                self._only_take_until.clear()
            self._only_take_until[self._queue] = monotonic() + ONLY_TAKE_SECONDS
        return jobs

    def _take_in_turns(self) -> list[Job]:
        for queue in _queues_in_order(self.database, self.turns):
            jobs = self._take_further(queue) or self._take_from_beginning(queue)
            _count(self.turns, queue, len(jobs), self.limit)
            if jobs:
                return jobs
        return []

    def _take_from_beginning(self, queue: str) -> list[Job]:
        try:
            return self._take_and_look(queue)
        except ConflictError:
            if self.database.in_transaction:
                # The caller's, which has to run again as a whole.
                raise
            # It took so long that others finished the jobs that it found.
            self._find_first(queue)
            if jobs := self._take_further(queue):
                return jobs
            raise

    def _take_and_look(self, queue: str) -> list[Job]:
        behind, sent = self._find_behind(queue), monotonic()
        if behind is not None:
            self._longest_wait = LOOK_SECONDS
        with spans.claiming(queue) as span:
            limits = {**self._limits(queue), **ANY_TIME_AND_SLOT, "behind": behind, "longest": self.longest}
            rows = self.database.run("take", **limits)
            spans.claimed(span, rows)
        self._note_look(queue, behind, rows, sent)
        return taken(rows, self.database, self.lease, self.grace, self.worker, sent, self.longest)

    def _take_further(self, queue: str) -> list[Job]:
        """Go on where the last take ahead of a queue ended, if there was one, or from the first due job."""
        if queue not in self._reached:
            return []
        if self._reached.after(queue) is BEGINNING:
            self._find_first(queue)
        if (after := self._reached.after(queue)) is BEGINNING:
            return []
        sent = monotonic()
        with spans.claiming(queue) as span:
            rows = self.database.run("take_ahead", **self._limits(queue), **after)
            spans.claimed(span, rows)
        self._note(queue, after, rows, monotonic() - sent)
        return taken(rows, self.database, self.lease, self.grace, self.worker, sent)

    def _find_first(self, queue: str) -> None:
        began = monotonic()
        self._reached.note(queue, BEGINNING, self.database.run("first_due", queue=queue), monotonic() - began)

    def _limits(self, queue: str) -> dict[str, Any]:
        limits = {"queue": queue, "limit": self.limit, "lease": self.lease, "grace": self.grace}
        return {**limits, "behind": None}

    def _note(self, queue: str, after: After, rows: list[Record], seconds: float) -> None:
        # If there were fewer jobs, the next take looks for others.
        self._reached.note(queue, after, rows if len(rows) == self.limit else [], seconds)

    def _find_behind(self, queue: str) -> str | None:
        return None if self.looked is None else self.looked.behind(queue)

    def _note_look(self, queue: str, behind: str | None, rows: list[Record], sent: float) -> None:
        if self.looked is not None:
            # A job whose last claim lapsed is taken alone, and others are left. If anything is limited, `take` counts
            # none of its rows. An empty take does not tell whether anything is limited.
            found_all = bool(rows) and rows[0]["found"] == len(rows) < self.limit
            self.looked.note(queue, behind, sent, found_all=found_all)

    def _needs_take(self, ahead: Ahead | None) -> bool:
        """Whether `take_ahead` from the beginning found none of the jobs that there are."""
        return (
            ahead is not None
            and (ahead.name, ahead.rows) == ("take_ahead", [])
            and self._after is BEGINNING
            and self._behind is None
        )

    def taken_ahead(self) -> list[Job]:
        """Return the jobs that were taken together with the last outcomes."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or ahead.rows is None:
            return []
        if ahead.rows or ahead.name == "take":
            # Otherwise `take` may find jobs, so the queue keeps its turn.
            _count(self.turns, self._queue, len(ahead.rows), self.limit)
        if ahead.name == "take" or self._after is BEGINNING:
            self._note_look(self._queue, self._behind, ahead.rows, ahead.sent)
        if ahead.name == "take_ahead":
            self._note(self._queue, self._after, ahead.rows, ahead.seconds)
        return taken(ahead.rows, self.database, self.lease, self.grace, self.worker, ahead.sent)


def take_in_turns(
    database: Database, turns: Turns, limit: int, lease: timedelta, grace: timedelta, worker: Worker = UNNAMED
) -> list[Job]:
    """Take up to `limit` due jobs of the queue that is next; if other workers have them, of the one after it.

    The worker ends with the lease, which no timeout of a job exceeds.
    """
    return Taker(database, turns, limit, lease, grace, worker, longest=lease).take()


def _count(turns: Turns, queue: str, jobs: int, limit: int) -> None:
    if jobs < limit:
        turns.forget(queue)
    if jobs:
        turns.count(queue, jobs)


def _queues_in_order(database: Database, turns: Turns) -> Iterator[str]:
    """Yield the queues that may have due jobs, in the order of their turns. One queue needs no search."""
    if turns.queues.only:
        yield turns.queues.only
        return
    yield from turns.order(turns.remembered())
    began = monotonic()
    records = database.run("count_due", limit=1, now=None)
    late = {record["queue"]: record["late"] for record in records}
    turns.remember(late, monotonic() - began)
    yield from turns.order(late)
