"""Jobs and attempts as the database stores them: the values that queries return."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID

from minutehand.model.calendar import WAITING
from minutehand.model.stored import error_of

State = Literal["scheduled", "due", "offered", "running", "retrying", "done", "dead", "expired", "cancelled"]
STATES: tuple[State, ...] = get_args(State)
FINISHED = {"done", "dead", "expired", "cancelled"}
# The fields that listings omit.
UNLISTED = frozenset(
    [
        "payload",
        "headers",
        "result",
        "retry",
        "timeout",
        "expires",
        "on_dead",
        "after",
        "after_failure",
    ]
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A stored job.

    The fields of `UNLISTED` are None in listings. The repr leaves out payload, headers, result, error and on_dead,
    which may be private.
    """

    id: UUID
    queue: str
    kind: str
    state: State
    key: str | None
    group: str | None
    priority: int
    attempts: int
    max_attempts: int
    enqueued: datetime
    run_at: datetime
    visible: datetime
    offered: datetime | None
    claimed: datetime | None
    deleted: datetime | None
    error: dict[str, str] | None = field(repr=False)
    payload: Any = field(default=None, repr=False)
    headers: dict[str, str] | None = field(default=None, repr=False)
    result: Any = field(default=None, repr=False)
    retry: dict[str, Any] | None = None
    timeout: timedelta | None = None
    # From `run_at`, until when it must have started.
    expires: timedelta | None = None
    # The job to create if it dies, with the field names of NewJob.
    on_dead: dict[str, Any] | None = field(default=None, repr=False)
    tenant: str = ""
    version: str | None = None
    every: str | None = None
    zone: str | None = None
    nominal: datetime | None = None
    schedule: str | None = None
    batch: UUID | None = None
    # The jobs that must end before it, and what happens if one of them fails.
    after: list[UUID] | None = None
    after_failure: str | None = None
    # The reason why a running job is to end at its next check.
    cancelling: str | None = None

    @property
    def waits(self) -> bool:
        """Whether it waits for jobs of `after` that have not ended."""
        return self.state == "scheduled" and self.visible == WAITING

    @property
    def offer_lapsed(self) -> bool:
        """Whether no worker claimed its current offer in time: it is due again, or has ended since."""
        if self.offered is None or (self.claimed is not None and self.claimed >= self.offered):
            return False
        return self.visible <= self.deleted if self.deleted else self.state == "due"

    @property
    def stage(self) -> str | None:
        """The failure that left the job done: of storing the `result`, or of the handler `after` its transaction."""
        done = self.state == "done" and isinstance(self.error, dict)
        return self.error.get("stage") if self.error and done else None

    @property
    def correlation_id(self) -> str | None:
        """The id of the request that enqueued the job, as in the logs; None in listings."""
        return (self.headers or {}).get("correlation-id")

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Row":
        """Build a row from the result of a statement; other columns are ignored."""
        values = {name: value for name, value in record.items() if name in cls.__dataclass_fields__}
        return cls(**values | {"error": error_of(record.get("error"))})


def without_trace(error: dict[str, str] | None) -> dict[str, str] | None:
    """Return an error without its trace, which may quote the payload."""
    return error and {name: text for name, text in error.items() if name != "trace"}


# The fields of jobs in listings: `ls -o json` and the pages of the REST API. A test compares their statements with it.
LISTED = tuple(each.name for each in fields(Row) if each.name not in UNLISTED)


@dataclass(frozen=True)
class Page:
    """A page of jobs, newest first, with the cursors of its neighbours.

    `before` is the cursor of the next (older) page and `after` that of the previous (newer) one; None means that there
    is none. `total` is the number of matching jobs and `place` the number before this page, if the total was requested.
    """

    rows: tuple[Row, ...]
    before: UUID | None
    after: UUID | None = None
    total: int | None = None
    place: int | None = None


@dataclass(frozen=True)
class Attempt:
    """A finished attempt. `outcome` is how the job was finished, or `lapsed` if the worker stopped responding."""

    job: UUID
    attempt: int
    started: datetime
    ended: datetime
    outcome: str
    worker: str | None
    request: str | None
    version: str | None
    memory_mb: int | None
    error: dict[str, str] | None = field(repr=False)
    # The partial result of a failed attempt.
    result: Any = field(default=None, repr=False)
