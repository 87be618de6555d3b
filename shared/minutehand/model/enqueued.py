"""The result of an enqueue, for each job."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from minutehand.errors import MinutehandError


@dataclass(frozen=True)
class Enqueued:
    """An enqueued job: `created`, or `replaced`, `merged` or `ignored` because its key had an upcoming job.

    `id` is the job that holds the key, and `visible` the time from which it may run. If that job has finished and only
    reserves the key, `visible` is the time at which the key becomes free. `ordinal` is the position in a bulk, from 0.
    """

    id: UUID
    outcome: Literal["created", "replaced", "merged", "ignored"]
    visible: datetime
    ordinal: int = 0


@dataclass(frozen=True)
class Rejected:
    """A rejected job of a bulk; the other jobs are still enqueued."""

    error: MinutehandError
    ordinal: int
    outcome: Literal["rejected"] = "rejected"
