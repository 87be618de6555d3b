"""Claim: exchange offered acks for claims, or take due jobs without an offer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from time import monotonic

from minutehand.attempts.ending import Ahead
from minutehand.claimed_job import Job
from minutehand.database import Database, Record
from minutehand.model.offer import Offer
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
    _controlled_until: float = 0.0

    def ahead(self) -> Ahead | None:
        """Return the statement that takes the next jobs, to run with the last outcomes of the worker's jobs.

        There is none if the next queue is not known, or if spans are recorded, which report each take.
        """
        queue = self.turns.next()
        if queue is None or self._ahead is not None or self.traced:
            return None
        limits = {"limit": self.limit, "lease": self.lease, "grace": self.grace}
        name = "take" if monotonic() < self._controlled_until else "take_ahead"
        self._ahead, self._queue = Ahead(name, {"queue": queue, **limits, **ANY_TIME_AND_SLOT}), queue
        return self._ahead

    def take(self) -> list[Job]:
        """Return the jobs that were taken ahead, or take some of the queue that is next.

        If other workers have the jobs of a queue, those of the one after it.
        """
        ahead = self._ahead
        if jobs := self.taken_ahead():
            return jobs
        jobs = take_in_turns(self.database, self.turns, self.limit, self.lease, self.grace, self.worker)
        if jobs and ahead is not None and ahead.name == "take_ahead" and ahead.rows == []:
            self._controlled_until = monotonic() + CONTROLLED_SECONDS
        return jobs

    def taken_ahead(self) -> list[Job]:
        """Return the jobs that were taken together with the last outcomes."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or ahead.rows is None:
            return []
        _count(self.turns, self._queue, len(ahead.rows), self.limit)
        return _taken(ahead.rows, self.database, self.lease, self.grace, self.worker, ahead.sent)


def take_in_turns(
    database: Database, turns: Turns, limit: int, lease: timedelta, grace: timedelta, worker: Worker = UNNAMED
) -> list[Job]:
    """Take up to `limit` due jobs of the queue that is next; if other workers have them, of the one after it."""
    for queue in _queues_in_order(database, turns):
        jobs = take(database, queue, limit, lease, grace, worker=worker)
        _count(turns, queue, len(jobs), limit)
        if jobs:
            return jobs
    return []


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
    records = database.run("count_due", limit=1, now=None)
    late = {record["queue"]: record["late"] for record in records}
    turns.remember(late)
    yield from turns.order(late)
