"""The figures of `minutehand top`."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from minutehand.queries.why import Answer


@dataclass(frozen=True, kw_only=True)
class QueueFigures:
    """A queue now. `due` excludes paused jobs and counts up to 10,000; `late` is how long the oldest has been due.

    `enqueued` and `finished` are the numbers of the last minute, among the latest 2000 jobs. `budget` is how many jobs
    may be offered or running, if offers lapsed.
    """

    queue: str
    due: int
    late: timedelta | None
    offered: int
    running: int
    enqueued: int
    finished: int
    budget: int | None
    paused: bool


@dataclass(frozen=True, kw_only=True)
class Failing:
    """The jobs of a kind that died in the last hour or wait for another attempt, and the latest type of error."""

    queue: str
    kind: str
    dead: int
    retrying: int
    error: str | None


@dataclass(frozen=True, kw_only=True)
class Overview:
    """All queues with work, and what concerns all of them. `ticked` is None if the dispatcher never ticked."""

    now: datetime
    ticked: datetime | None
    connections: int
    max_connections: int
    paused_everything: bool
    queues: tuple[QueueFigures, ...]
    failing: tuple[Failing, ...]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A due, offered or running job; `since` is when it became so."""

    id: UUID
    kind: str
    key: str | None
    state: str
    attempts: int
    since: datetime
    error: str | None


@dataclass(frozen=True, kw_only=True)
class Detail:
    """One queue: its jobs that have been due the longest, those offered or running, what fails, and why it is late."""

    queue: str
    due: tuple[Job, ...]
    busy: tuple[Job, ...]
    failing: tuple[Failing, ...]
    why: Answer | None
