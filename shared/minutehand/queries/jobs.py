"""Read: jobs as they stand in the table, in whatever state."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    tenant: str = ""
    version: str | None = None
    every: str | None = None
    zone: str | None = None
    nominal: datetime | None = None
    schedule: str | None = None
    cancelling: str | None = None  # why a running one is to end at its next check

    @classmethod
    def from_record(cls, record: Record) -> "Row":
        """Build the row that a statement returned."""
        return cls(**{name: value for name, value in record.items() if name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Page:
    """A page of rows, the last enqueued first, and where to go on: `before` its last row, or `after` its first.

    A cursor is None where there is nothing more that way. `total` is how many match, and `place` how many of them
    come before this page, if that was asked.
    """

    rows: tuple[Row, ...]
    before: UUID | None
    after: UUID | None = None
    total: int | None = None
    place: int | None = None


@dataclass(frozen=True)
class Attempt:
    """An attempt at a job that has ended, and how: as `finish` says it, or `lapsed` for a worker that went silent."""

    job: UUID
    attempt: int
    started: datetime
    ended: datetime
    outcome: str
    worker: str | None
    request: str | None
    version: str | None
    memory_mb: int | None
    error: dict[str, str] | None
    result: Any = None  # what one that failed had so far


@dataclass(frozen=True)
class Depth:
    """How many jobs of a queue, or of a kind in it, are in a state, and since when the first waits or is finished."""

    queue: str
    state: State
    jobs: int
    since: datetime
    kind: str | None = None


def get(database: Database, job_id: UUID) -> Row:
    """Return one job; raise NotFoundError if there is none."""
    records = database.run("get", id=job_id)
    if not records:
        raise NotFoundError(f"there is no job {job_id}")
    return Row.from_record(records[0])


def get_by_key(database: Database, queue: str, key: str, *, tenant: str = "") -> Row:
    """Return the job that a key names: the upcoming one, else the one that runs, else the last that was finished."""
    records = database.run("get_by_key", queue=queue, key=key, tenant=tenant)
    if not records:
        raise NotFoundError(f"there is no job with that key in queue {queue}")
    return Row.from_record(records[0])


def list_attempts(database: Database, job_id: UUID) -> list[Attempt]:
    """Return every attempt at a job that has ended, the first one first."""
    return [Attempt(**record) for record in database.run("attempts", job=job_id)]


def list_queues(database: Database) -> list[str]:
    """Return the queues that have or had jobs, or of which something is set."""
    return [record["queue"] for record in database.run("queues")]


def list_jobs(
    database: Database, *, queue: str | None = None, kind: str | None = None, key: str | None = None,
    states: Sequence[str] = (), version: str | None = None, tenant: str | None = None,
    since: datetime | None = None, until: datetime | None = None,
    finished_since: datetime | None = None, finished_until: datetime | None = None,
    before: UUID | None = None, after: UUID | None = None, last: bool = False, most: int = 50, total: bool = False,
) -> Page:  # fmt: skip
    """Return a page of the jobs that match, the last enqueued first: the first page, unless a cursor says another.

    Go on with the page's `before`, and back with its `after`; `last` is the other end. A page stays where it is
    whatever is enqueued meanwhile. `since` and `until` are about when a job was enqueued, the others about when it
    was finished. `total` counts all that match, which takes as long as there are many.
    """
    if not 1 <= most <= MOST_LISTED:
        raise InvalidJobError("page_is_bounded", f"a page has 1 to {MOST_LISTED} jobs")
    if sum((before is not None, after is not None, last)) > 1:
        raise InvalidJobError("one_cursor", "say before, after or last, one of them")
    homes = {state in FINISHED for state in states}
    filters: dict[str, Any] = {
        "queue": queue, "kind": kind, "key": key, "version": version, "tenant": tenant,
        "states": check_states(states), "finished": homes.pop() if len(homes) == 1 else None,
        **check_moments(since=since, until=until, finished_since=finished_since, finished_until=finished_until),
    }  # fmt: skip
    page = (_newer if last or after else _older)(database, filters, before or after, most)
    return replace(page, **_place(database, filters, page)) if total else page


def _older(database: Database, filters: dict[str, Any], before: UUID | None, most: int) -> Page:
    records = database.run("list", before=before, most=most + 1, **filters)
    rows = tuple(Row.from_record(record) for record in records[:most])
    return Page(rows, rows[-1].id if len(records) > most else None, rows[0].id if rows and before else None)


def _newer(database: Database, filters: dict[str, Any], after: UUID | None, most: int) -> Page:
    records = database.run("list_newer", after=after, most=most + 1, **filters)
    rows = tuple(Row.from_record(record) for record in reversed(records[:most]))
    return Page(rows, rows[-1].id if rows and after else None, rows[0].id if len(records) > most else None)


def _place(database: Database, filters: dict[str, Any], page: Page) -> Record:
    return database.run("list_total", first=page.rows[0].id if page.rows else None, **filters)[0]


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


def check_moments(**moments: datetime | None) -> dict[str, datetime | None]:
    """Return moments to filter by; raise InvalidJobError for one without a time zone."""
    for name, moment in moments.items():
        if moment is not None and moment.utcoffset() is None:
            raise InvalidJobError(
                "moment_is_aware",
                f"{name} has no time zone; say which one, as datetime(..., tzinfo=ZoneInfo(...))",
            )
    return moments


def stats(
    database: Database, *, since: datetime | None = None, queue: str | None = None, kind: str | None = None,
    by_kind: bool = False,
) -> list[Depth]:  # fmt: skip
    """Return how many jobs each queue has in each state, or each kind in it; of the finished ones, those since then.

    Without `since` it looks at every job there is.
    """
    asked = {"queue": queue, "kind": kind, "by_kind": by_kind, **check_moments(since=since)}
    return [Depth(**record) for record in database.run("stats", **asked)]
