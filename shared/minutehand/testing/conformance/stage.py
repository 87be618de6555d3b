"""Stage: the steps of a worker, one function each."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from minutehand import Job, enqueue
from minutehand.claim import claim, take
from minutehand.database import Database
from minutehand.finish import finish
from minutehand.model.enqueued import Enqueued
from minutehand.model.offer import Offer
from minutehand.model.outcome import Done, Failed
from minutehand.model.row import Row
from minutehand.offer import offer
from minutehand.queries.jobs import get

LEASE = timedelta(minutes=5)
GRACE = timedelta(seconds=2)
TTL = timedelta(minutes=2)
ERROR = {"type": "Broken", "message": "it broke"}


def put(kind: str = "work", payload: object = None, **options: Any) -> UUID:
    """Enqueue a job and return its id."""
    enqueued: Enqueued = enqueue(kind, payload, **options)
    return enqueued.id


def take_all(database: Database, limit: int = 10, queue: str = "default") -> list[Job]:
    """Claim due jobs, as a resident worker does."""
    return take(database, queue, limit, LEASE, GRACE)


def take_one(database: Database, queue: str = "default") -> Job:
    """Claim the next job."""
    (job,) = take_all(database, 1, queue)
    return job


def offers(database: Database, capacity: int = 10) -> list[Offer]:
    """Offer as many jobs as the capacity allows, as a tick does."""
    return list(offer(database, capacity, TTL).offers)


def accept(database: Database, offered: list[Offer]) -> list[Job]:
    """Claim offered jobs, as an invited worker does."""
    return claim(database, offered, LEASE, GRACE)


def succeed(job: Job, result: str | None = None) -> str:
    """Finish a claimed job with success and return its ending."""
    return finish(job, Done(result)).ending


def fail(job: Job, *, delay: timedelta | None = None, final: bool = False) -> str:
    """Finish a claimed job with a failure and return its ending."""
    return finish(job, Failed(ERROR, delay, final)).ending


def row(database: Database, job_id: UUID) -> Row:
    """Return the current row of a job."""
    return get(database, job_id)


def state(database: Database, job_id: UUID) -> str:
    """Return the state of a job."""
    return get(database, job_id).state
