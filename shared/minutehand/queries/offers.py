"""Read the offers of a job that no worker claimed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from minutehand.database import Executor, sync_or_async

Outcome = Literal["lapsed", "refused", "recalled"]


@dataclass(frozen=True)
class Unclaimed:
    """An offer that no worker claimed: it lapsed, its invitation was refused, or a pause recalled it."""

    offered: datetime
    ended: datetime
    outcome: Outcome


@dataclass(frozen=True)
class UnclaimedOffers:
    """How many offers of a job no worker claimed, and the latest of them, oldest first: at most twenty.

    An offer is counted when a tick replaces it, or when it is taken back, and forgotten a week after the last one of
    the job. The job itself has its current offer, or the one that its latest attempt claimed; see `Row.offer_lapsed`.
    """

    count: int = 0
    latest: tuple[Unclaimed, ...] = ()


@sync_or_async
async def unclaimed_offers(executor: Executor, job_id: UUID) -> UnclaimedOffers:
    """Return the offers of a job that no worker claimed."""
    records = await executor.run("list_unclaimed", job=job_id)
    count = records[0]["offers"] if records else 0
    return UnclaimedOffers(
        count, tuple(Unclaimed(each["offered"], each["ended"], each["outcome"]) for each in records)
    )
