"""Claim: exchange offered acks for claims, or take due jobs without an offer."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from minutehand.claimed_job import Job
from minutehand.database import Database
from minutehand.model.offer import Offer
from minutehand.model.slots import Slots
from minutehand.model.turns import Turns
from minutehand.model.worker import UNNAMED, Worker
from minutehand.tracing import spans


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
    records.sort(key=lambda record: (-record["priority"], record["run_at"]))
    return [Job.from_record(record, database, lease, grace, worker) for record in records]


def take_in_turns(
    database: Database, turns: Turns, limit: int, lease: timedelta, grace: timedelta, worker: Worker = UNNAMED
) -> list[Job]:
    """Take up to `limit` due jobs of the queue that is next; if other workers have them, of the one after it."""
    for queue in _queues_in_order(database, turns):
        jobs = take(database, queue, limit, lease, grace, worker=worker)
        if len(jobs) < limit:
            turns.forget(queue)
        if jobs:
            turns.count(queue, len(jobs))
            return jobs
    return []


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
