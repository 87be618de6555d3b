"""Claim: exchange offered acks for claims, or take due jobs without an offer."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import itemgetter

from minutehand.claimed_job import Job
from minutehand.database import Database, Record
from minutehand.model.offer import Offer
from minutehand.model.slots import Slots
from minutehand.model.worker import UNNAMED, Worker
from minutehand.tracing import spans

BY_TIME, BY_PRIORITY = itemgetter("run_at"), itemgetter("priority")
# Of the jobs of an ordered group.
BY_START = itemgetter("run_at", "id")
# The parameters of a worker that takes jobs now, in any slot.
ANY_TIME_AND_SLOT = {"now": None, "freed": None, "only": None, "behind": None, "longest": None}


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
    return [Job.from_record(record, database, lease, grace, worker, longest=lease) for record in records]


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
    there are slots left of these, and only jobs that suit the worker: none whose timeout is longer than the lease.
    """
    freed, only = (None, None) if slots is None else (list(slots.freed), slots.only)
    with spans.claiming(queue) as span:
        records = database.run(
            "take",
            queue=queue,
            limit=limit,
            lease=lease,
            grace=grace,
            now=now,
            freed=freed,
            only=only,
            behind=None,
            longest=None,
        )
        spans.claimed(span, records)
    return taken(records, database, lease, grace, worker)


def taken(
    records: list[Record],
    database: Database,
    lease: timedelta,
    grace: timedelta,
    worker: Worker,
    at: float | None = None,
    longest: timedelta | None = None,
) -> list[Job]:
    """Return the claims of rows that were taken, in the order in which they run.

    Their leases count from the monotonic second `at`. A job's own timeout replaces the lease, up to `longest`.
    """
    if len(records) > 1:
        # Two stable sorts, which call no function of Python for a record.
        records.sort(key=BY_TIME)
        records.sort(key=BY_PRIORITY, reverse=True)
        _order_groups(records)
    return [Job.from_record(record, database, lease, grace, worker, at, longest) for record in records]


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
