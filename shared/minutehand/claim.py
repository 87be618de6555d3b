"""Claim: exchange offered acks for claims, or take due jobs without an offer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from time import monotonic
from typing import Any

from minutehand.attempts.ending import Ahead
from minutehand.claimed_job import Job
from minutehand.database import Database, Record
from minutehand.errors import ConflictError
from minutehand.model.offer import Offer
from minutehand.model.reached import BEGINNING, After, Reached
from minutehand.model.slots import Slots
from minutehand.model.turns import Turns
from minutehand.model.worker import UNNAMED, Worker
from minutehand.tracing import spans

BY_TIME, BY_PRIORITY = itemgetter("run_at"), itemgetter("priority")
# Of the jobs of an ordered group.
BY_START = itemgetter("run_at", "id")
# After `take_ahead` found nothing but `take` did, for this many seconds only `take` runs.
CONTROLLED_SECONDS = 1.0
# The parameters of a worker that takes jobs now, in any slot.
ANY_TIME_AND_SLOT = {"now": None, "freed": None, "only": None}


def claim(
    database: Database, offers: Sequence[Offer], lease: timedelta, grace: timedelta, worker: Worker = UNNAMED
) -> list[Job]:
    """Claim the jobs that are still on offer, in the order of the offers.

    The lease lasts for the worker's remaining time, or for the job's timeout if that is shorter, plus the grace. A
    duplicate or late event, or one for a job that was replaced, claims nothing.
    """
    ids, acks = [offer.id for offer in offers], [offer.ack for offer in offers]
    with spans.claiming(None) as span:
        records = database.run("claim", ids=ids, acks=acks, lease=lease, grace=grace)
        spans.claimed(span, records)
    positions = {job_id: position for position, job_id in enumerate(ids)}
    records.sort(key=lambda record: positions[record["id"]])
    _order_groups(records)
    return [Job.from_record(record, database, lease, grace, worker) for record in records]


def take(
    database: Database,
    queue: str,
    limit: int,
    lease: timedelta,
    grace: timedelta,
    now: datetime | None = None,
    worker: Worker = UNNAMED,
    slots: Slots | None = None,
) -> list[Job]:
    """Offer and claim in one step: take up to `limit` due jobs of a queue.

    Higher priorities come first, then the jobs that have been due the longest. With `slots`, takes no more jobs than
    there are slots left of these, and only jobs that suit the worker.
    """
    freed, only = (None, None) if slots is None else (list(slots.freed), slots.only)
    with spans.claiming(queue) as span:
        records = database.run(
            "take", queue=queue, limit=limit, lease=lease, grace=grace, now=now, freed=freed, only=only
        )
        spans.claimed(span, records)
    return _taken(records, database, lease, grace, worker)


def _taken(
    records: list[Record],
    database: Database,
    lease: timedelta,
    grace: timedelta,
    worker: Worker,
    at: float | None = None,
) -> list[Job]:
    if len(records) > 1:
        # Two stable sorts, which call no function of Python for a record.
        records.sort(key=BY_TIME)
        records.sort(key=BY_PRIORITY, reverse=True)
        _order_groups(records)
    return [Job.from_record(record, database, lease, grace, worker, at) for record in records]


def _order_groups(records: list[Record]) -> None:
    """Put the jobs of each ordered group into the order of its starts, in the places that they have together."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for place, record in enumerate(records):
        if record.get("group_order") is not None:
            name = record["queue"], record["tenant"], record["group"]
            groups.setdefault(name, []).append(place)
    for places in groups.values():
        starts = sorted([records[place] for place in places], key=BY_START)
        for place, record in zip(places, starts, strict=True):
            records[place] = record


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
    _ahead: Ahead | None = None
    _queue: str = ""
    # Where the take ahead begins, and how far those before it came.
    _after: After = field(default_factory=lambda: BEGINNING)
    _reached: Reached = field(default_factory=Reached)
    _controlled_until: float = 0.0

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
            # `take` finds the first due job again.
            return None
        if monotonic() < self._controlled_until:
            self._ahead = Ahead("take", {**self._limits(queue), **ANY_TIME_AND_SLOT})
        else:
            self._ahead = Ahead("take_ahead", {**self._limits(queue), **self._after})
        return self._ahead

    def take(self) -> list[Job]:
        """Return the jobs that were taken ahead, or take some of the queue that is next.

        If other workers have the jobs of a queue, those of the one after it.
        """
        ahead = self._ahead
        if jobs := self.taken_ahead():
            return jobs
        jobs = self._take_in_turns()
        if jobs and self._is_controlled(ahead):
            self._controlled_until = monotonic() + CONTROLLED_SECONDS
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
            return take(self.database, queue, self.limit, self.lease, self.grace, worker=self.worker)
        except ConflictError:
            # It took so long that others finished the jobs that it found.
            self._find_first(queue)
            if jobs := self._take_further(queue):
                return jobs
            raise

    def _take_further(self, queue: str) -> list[Job]:
        """Go on where the last take ahead of a queue ended, if there was one, or from the first due job."""
        if queue not in self._reached:
            return []
        if self._reached.after(queue) is BEGINNING:
            self._find_first(queue)
        if (after := self._reached.after(queue)) is BEGINNING:
            return []
        sent = monotonic()
        rows = self.database.run("take_ahead", **self._limits(queue), **after)
        self._note(queue, after, rows, sent)
        return _taken(rows, self.database, self.lease, self.grace, self.worker, sent)

    def _find_first(self, queue: str) -> None:
        began = monotonic()
        self._reached.note(queue, BEGINNING, self.database.run("first_due", queue=queue), monotonic() - began)

    def _limits(self, queue: str) -> dict[str, Any]:
        return {"queue": queue, "limit": self.limit, "lease": self.lease, "grace": self.grace}

    def _note(self, queue: str, after: After, rows: list[Record], sent: float) -> None:
        # If there were fewer jobs, the next take looks for others.
        self._reached.note(queue, after, rows if len(rows) == self.limit else [], monotonic() - sent)

    def _is_controlled(self, ahead: Ahead | None) -> bool:
        """Whether a take from the beginning found none of the jobs that there are."""
        return (
            ahead is not None and ahead.rows == [] and ahead.name == "take_ahead" and self._after is BEGINNING
        )

    def taken_ahead(self) -> list[Job]:
        """Return the jobs that were taken together with the last outcomes."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or ahead.rows is None:
            return []
        _count(self.turns, self._queue, len(ahead.rows), self.limit)
        if ahead.name == "take_ahead":
            self._note(self._queue, self._after, ahead.rows, ahead.sent)
        return _taken(ahead.rows, self.database, self.lease, self.grace, self.worker, ahead.sent)


def take_in_turns(
    database: Database, turns: Turns, limit: int, lease: timedelta, grace: timedelta, worker: Worker = UNNAMED
) -> list[Job]:
    """Take up to `limit` due jobs of the queue that is next; if other workers have them, of the one after it."""
    return Taker(database, turns, limit, lease, grace, worker).take()


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
