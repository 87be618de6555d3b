"""Read jobs in any state, their attempts, and their counts by queue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Executor, sync_or_async
from minutehand.errors import InvalidJobError, NotFoundError
from minutehand.model.new_job import check_calendar, check_time, encode_headers
from minutehand.model.option import typed
from minutehand.model.row import FINISHED, STATES, Attempt, Page, Row, State
from minutehand.model.stored import error_of

MAX_PAGE = 1000


@dataclass(frozen=True)
class Depth:
    """The number of jobs in a state, by queue or kind, and when the oldest became due or finished."""

    queue: str
    state: State
    jobs: int
    since: datetime
    kind: str | None = None


@sync_or_async
async def get(executor: Executor, job_id: UUID) -> Row:
    """Return a job; raise NotFoundError if it does not exist."""
    records = await executor.run("get", id=job_id)
    if not records:
        raise NotFoundError(f"job {job_id} not found")
    return Row.from_record(records[0])


@sync_or_async
async def get_listed(executor: Executor, ids: Sequence[UUID]) -> list[Row]:
    """Return those of the jobs that exist, newest first, without payloads."""
    records = await executor.run("get_listed", ids=list(ids)) if ids else []
    return [Row.from_record(record) for record in records]


@sync_or_async
async def get_by_key(executor: Executor, queue: str, key: str, *, tenant: str = "") -> Row:
    """Return the upcoming job with a key, else the running one, else the last to finish.

    Raises NotFoundError if there is none.
    """
    records = await executor.run("get_by_key", queue=queue, key=key, tenant=tenant)
    if not records:
        raise NotFoundError(f"queue {queue} has no job with the key {key[:80]!r}")
    return Row.from_record(records[0])


@sync_or_async
async def list_attempts(
    executor: Executor, job_id: UUID, *, after: datetime | None = None, limit: int = MAX_PAGE
) -> list[Attempt]:
    """Return the finished attempts at a job, oldest first; `after` continues after the end of an attempt."""
    records = await executor.run("list_attempts", job=job_id, after=check_time(after, "after"), limit=limit)
    return [Attempt(**record | {"error": error_of(record["error"])}) for record in records]


@sync_or_async
async def list_queues(executor: Executor, *, limit: int = MAX_PAGE, after: str | None = None) -> list[str]:
    """Return the names of queues that have or had jobs or settings; `after` is the last name of the page before."""
    _check_limit(limit)
    return [record["queue"] for record in await executor.run("list_queues", limit=limit, after=after)]


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {MAX_PAGE}, got {limit}")


@sync_or_async
async def list_jobs(
    executor: Executor,
    *,
    queue: str | None = None,
    kind: str | None = None,
    key: str | None = None,
    group: str | None = None,
    priority: int | None = None,
    headers: Mapping[str, str] | None = None,
    states: Sequence[str] = (),
    version: str | None = None,
    tenant: str | None = None,
    result_dropped: bool = False,
    since: datetime | None = None,
    until: datetime | None = None,
    finished_since: datetime | None = None,
    finished_until: datetime | None = None,
    before: UUID | None = None,
    after: UUID | None = None,
    last: bool = False,
    limit: int = 50,
    total: bool = False,
) -> Page:
    """Return a page of the jobs that match, newest first: the first page, unless a cursor names another.

    The page's `before` leads to the next page, its `after` to the previous one; `last` is the page of the oldest jobs.
    Jobs enqueued meanwhile do not shift pages. `headers` selects the jobs that have all of them. `since` and `until`
    bound the time of enqueueing, the other two that of finishing. `result_dropped` lists done jobs whose result could
    not be stored. `total` also counts all matching jobs, which takes time in proportion to their number.
    """
    _check_limit(limit)
    if sum((before is not None, after is not None, last)) > 1:
        raise InvalidJobError("one_cursor", "expected at most one of before, after and last")
    homes = {state in FINISHED for state in states}
    filters: dict[str, Any] = {
        "queue": queue,
        "kind": kind,
        "key": key,
        "group": group,
        "priority": typed(priority, int, "priority_is_0_to_9"),
        "headers": encode_headers(headers) if headers else None,
        "version": version,
        "tenant": tenant,
        "states": check_states(states),
        "result_dropped": result_dropped or None,
        "finished": True if result_dropped else homes.pop() if len(homes) == 1 else None,
        "since": check_time(since, "since"),
        "until": check_time(until, "until"),
        "finished_since": check_time(finished_since, "finished_since"),
        "finished_until": check_time(finished_until, "finished_until"),
    }
    page = await (_newer if last or after else _older)(executor, filters, before or after, limit)
    return replace(page, **await _count(executor, filters, page)) if total else page


async def _older(executor: Executor, filters: dict[str, Any], before: UUID | None, limit: int) -> Page:
    records = await executor.run("list_jobs", before=before, limit=limit + 1, **filters)
    rows = tuple(Row.from_record(record) for record in records[:limit])
    return Page(rows, rows[-1].id if len(records) > limit else None, rows[0].id if rows and before else None)


async def _newer(executor: Executor, filters: dict[str, Any], after: UUID | None, limit: int) -> Page:
    records = await executor.run("list_newer_jobs", after=after, limit=limit + 1, **filters)
    rows = tuple(Row.from_record(record) for record in reversed(records[:limit]))
    return Page(rows, rows[-1].id if rows and after else None, rows[0].id if len(records) > limit else None)


async def _count(executor: Executor, filters: dict[str, Any], page: Page) -> dict[str, Any]:
    return (await executor.run("count_jobs", first=page.rows[0].id if page.rows else None, **filters))[0]


@sync_or_async
async def clock(executor: Executor) -> datetime:
    """Return the time by the database's clock, to which the times of jobs compare."""
    moment: datetime = (await executor.run("clock"))[0]["now"]
    return moment


def check_states(states: Sequence[str], known: Sequence[str] = STATES) -> list[str] | None:
    """Return states to filter by, or None for no filter; raise InvalidJobError for an unknown state."""
    if unknown := sorted(set(states) - set(known)):
        raise InvalidJobError(
            "state_is_known", f"state must be one of {', '.join(known)}, got {unknown[0]!r}"
        )
    return list(states) or None


@sync_or_async
async def stats(
    executor: Executor,
    *,
    since: datetime | None = None,
    queue: str | None = None,
    kind: str | None = None,
    by_kind: bool = False,
) -> list[Depth]:
    """Count the jobs of each queue, or of each kind in it, by state; of the finished ones, those since a time.

    Without `since` it reads all jobs.
    """
    filters = {"queue": queue, "kind": kind, "since": check_calendar(since, "since")}
    return [Depth(**record) for record in await executor.run("stats", by_kind=by_kind, **filters)]
