"""Read: jobs as they stand in the table, in whatever state."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID

from minutehand.database import Database, Record
from minutehand.errors import InvalidJobError, NotFoundError

State = Literal["scheduled", "due", "offered", "running", "retrying", "done", "dead", "cancelled"]
STATES: tuple[State, ...] = get_args(State)
FINISHED = {"done", "dead", "cancelled"}
MOST_LISTED = 1000


@dataclass(frozen=True, kw_only=True)
class Row:
    """A job as it stands in the table; a listing leaves payload, headers, result and policies out (None)."""

    id: UUID
    queue: str
    kind: str
    state: State
    key: str | None
    priority: int
    attempts: int
    max_attempts: int
    enqueued: datetime
    run_at: datetime
    visible: datetime
    offered: datetime | None
    claimed: datetime | None
    deleted: datetime | None
    error: dict[str, str] | None
    payload: Any = None
    headers: dict[str, str] | None = None
    result: Any = None
    retry: dict[str, Any] | None = None
    timeout: timedelta | None = None

    @classmethod
    def from_record(cls, record: Record) -> "Row":
        """Build the row that a statement returned."""
        return cls(**{name: value for name, value in record.items() if name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Page:
    """A page of rows, and the cursor of the next one if there may be more."""

    rows: tuple[Row, ...]
    before: UUID | None


@dataclass(frozen=True)
class Depth:
    """How many jobs of a queue are in a state, and since when the first of them waits or is finished."""

    queue: str
    state: State
    jobs: int
    since: datetime


def get(database: Database, job_id: UUID) -> Row:
    """Return one job; raise NotFoundError if there is none."""
    records = database.run("get", id=job_id)
    if not records:
        raise NotFoundError(f"there is no job {job_id}")
    return Row.from_record(records[0])


def list_jobs(
    database: Database, *, queue: str | None = None, kind: str | None = None, key: str | None = None,
    states: Sequence[str] = (), before: UUID | None = None, most: int = 50,
) -> Page:  # fmt: skip
    """Return a page of jobs that match, the last enqueued first; go on with `before` from the page."""
    check_states(states)
    if not 1 <= most <= MOST_LISTED:
        raise InvalidJobError("page_is_bounded", f"a page has 1 to {MOST_LISTED} jobs")
    homes = {state in FINISHED for state in states}
    records = database.run(
        "list", queue=queue, kind=kind, key=key, before=before, most=most + 1,
        states=list(states) or None, finished=homes.pop() if len(homes) == 1 else None,
    )  # fmt: skip
    rows = tuple(Row.from_record(record) for record in records[:most])
    return Page(rows, rows[-1].id if len(records) > most else None)


def clock(database: Database) -> datetime:
    """Return the moment by the database's clock, to which a job's moments compare."""
    moment: datetime = database.run("clock")[0]["now"]
    return moment


def check_states(states: Sequence[str], known: Sequence[str] = STATES) -> list[str] | None:
    """Return states to filter by, None for no filter; raise InvalidJobError for one that there is not."""
    if unknown := sorted(set(states) - set(known)):
        raise InvalidJobError(
            "state_is_known", f"no state is called {unknown[0]!r}; they are {', '.join(known)}"
        )
    return list(states) or None


def stats(database: Database) -> list[Depth]:
    """Return how many jobs each queue has in each state."""
    return [Depth(**record) for record in database.run("stats")]
