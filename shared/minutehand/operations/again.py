"""Retry dead jobs at a rate, and replay finished jobs, such as those of an older version of the code."""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from minutehand.database import Executor, sync_or_async, sync_or_async_iterator
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import check_time
from minutehand.model.row import FINISHED
from minutehand.operations import jobs
from minutehand.operations.change import Change
from minutehand.queries.jobs import check_states

CHUNK = 1000
LIMIT = 1000
MINUTE = timedelta(minutes=1)


@sync_or_async_iterator
async def retry_at_rate(
    executor: Executor,
    per_minute: float,
    *,
    queue: str | None = None,
    kind: str | None = None,
    since: datetime | None = None,
    before: datetime | None = None,
    limit: int = LIMIT,
    actor: str | None = None,
) -> AsyncGenerator[Change, None]:
    """Retry dead jobs at a rate, the last to die first, and yield a Change for each.

    `since` and `before` bound the time at which the jobs died. The jobs keep their ids and get all their attempts
    again; a job whose key has an upcoming job stays dead. To continue after `limit` jobs, call again.
    """
    step = step_of(per_minute)
    ids = await find_finished(
        executor, queue=queue, kind=kind, states=["dead"], since=since, before=before, limit=limit
    )
    for place in range(0, len(ids), CHUNK):
        chunk = ids[place : place + CHUNK]
        for change in await jobs.retry(executor, chunk, start=place * step, step=step, actor=actor):
            yield change


@sync_or_async_iterator
async def replay_finished(
    executor: Executor,
    *,
    older_than: str | None = None,
    other_than: str | None = None,
    queue: str | None = None,
    kind: str | None = None,
    states: Sequence[str] = ("done",),
    since: datetime | None = None,
    before: datetime | None = None,
    window: timedelta = timedelta(),
    suffix: str = "",
    limit: int = LIMIT,
    actor: str | None = None,
) -> AsyncGenerator[Change, None]:
    """Replay the finished jobs that match, with all their attempts, and yield a Change for each.

    `older_than` and `other_than` filter by the version of the code that finished a job: older by its numbers (1.9 is
    older than 1.10), or any other version. A job is replayed only once for a version, so that another call continues
    after `limit` jobs. Of several jobs with one key, the latest is replayed.
    """
    mark = mark_of(older_than, other_than)
    ids = await find_finished(
        executor,
        queue=queue,
        kind=kind,
        states=states,
        since=since,
        before=before,
        older_than=older_than,
        other_than=other_than,
        limit=limit,
    )
    for place in range(0, len(ids), CHUNK):
        for change in await jobs.replay(
            executor,
            ids[place : place + CHUNK],
            max_attempts=None,
            window=window,
            suffix=suffix,
            actor=actor,
            mark=mark,
        ):
            yield change


@sync_or_async
async def find_finished(
    executor: Executor,
    *,
    queue: str | None = None,
    kind: str | None = None,
    key: str | None = None,
    group: str | None = None,
    states: Sequence[str] = ("done",),
    since: datetime | None = None,
    before: datetime | None = None,
    older_than: str | None = None,
    other_than: str | None = None,
    limit: int | None = LIMIT,
) -> list[UUID]:
    """Return the ids of the finished jobs that match, the latest first.

    With a version, jobs that were already replayed for it are left out.
    """
    records = await executor.run(
        "find_finished",
        queue=queue,
        kind=kind,
        key=key,
        group=group,
        states=check_states(states, sorted(FINISHED)) or sorted(FINISHED),
        since=check_time(since, "since"),
        before=check_time(before, "before"),
        older_than=older_than,
        other_than=other_than,
        mark=mark_of(older_than, other_than),
        limit=limit,
    )
    return [record["id"] for record in records]


def step_of(per_minute: float) -> timedelta:
    """Return the time between two jobs at a rate; raise InvalidJobError for a rate that is out of range."""
    if not 0.001 <= per_minute <= 1_000_000:
        raise InvalidJobError(
            "rate_is_positive", f"the rate must be from 0.001 to 1000000 jobs per minute, got {per_minute}"
        )
    return MINUTE / per_minute


def mark_of(older_than: str | None, other_than: str | None) -> str | None:
    """Return the mark by which the audit trail tells which jobs were replayed for a version."""
    versions = (("older than", older_than), ("other than", other_than))
    return ", ".join(f"{name} {version}" for name, version in versions if version) or None
