"""The result of an enqueue, for each job."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from minutehand.errors import MinutehandError


@dataclass(frozen=True)
class Enqueued:
    """What became of it: `created`, `replaced` the key's upcoming job, `merged` into it, or `ignored`.

    `id` is the job that stands, `visible` the moment from which it may run; or, where it ran already and keeps the key
    for a while, when the key is free again. `ordinal` counts a bulk's items from 0.
    """

    id: UUID
    outcome: Literal["created", "replaced", "merged", "ignored"]
    visible: datetime
    ordinal: int = 0


@dataclass(frozen=True)
class Rejected:
    """An item of a bulk that no rule lets in; the others are not held up by it."""

    error: MinutehandError
    ordinal: int
    outcome: Literal["rejected"] = "rejected"
