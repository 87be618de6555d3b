"""Claim: an offered ack becomes the worker's own, or a worker takes what is due by itself."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from minutehand.database import Database
from minutehand.job import Job
from minutehand.model.worker import UNNAMED, Worker
from minutehand.model.offer import Offer


def claim(
    database: Database, offers: Sequence[Offer], lease: timedelta, grace: timedelta, worker: Worker = UNNAMED
) -> list[Job]:
    """Claim what is still on offer, in the offers' order.

    The lease runs for the worker's time left, or the job's own timeout if that is shorter, plus a grace. An event
    that comes twice, late, or after the job was replaced claims nothing.
    """
    ids, acks = [offer.id for offer in offers], [offer.ack for offer in offers]
    records = database.run("claim", ids=ids, acks=acks, lease=lease, grace=grace)
    places = {job_id: place for place, job_id in enumerate(ids)}
    records.sort(key=lambda record: places[record["id"]])
    return [Job.from_record(record, database, lease, grace, worker) for record in records]


def take(
    database: Database, queue: str, most: int, lease: timedelta, grace: timedelta, now: datetime | None = None,
    worker: Worker = UNNAMED,
) -> list[Job]:  # fmt: skip
    """Offer and claim in one: take up to `most` due jobs of a queue, the higher priority and the longest due first."""
    records = database.run("take", queue=queue, most=most, lease=lease, grace=grace, now=now)
    records.sort(key=lambda record: (-record["priority"], record["run_at"]))
    return [Job.from_record(record, database, lease, grace, worker) for record in records]
