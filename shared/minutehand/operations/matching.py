"""Make one change to all jobs that match a search, in bounded chunks, or count them first."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Literal
from uuid import UUID

from minutehand.database import Executor, sync_or_async
from minutehand.errors import InvalidJobError, MinutehandError
from minutehand.model.row import Row
from minutehand.operations import audit, jobs
from minutehand.operations.again import step_of
from minutehand.queries.search import JobSearch, count_matching, find_matching, is_set, search_jobs

Verb = Literal["retry", "cancel", "promote", "reschedule", "replay"]
CHUNK = 500
MAX_LIMIT = 10_000
# A request has 29 seconds.
MAX_SECONDS = 15.0
SAMPLE = 10
UPCOMING = ("scheduled", "due", "offered", "retrying")
# The states in which a verb is possible.
STATES: dict[Verb, tuple[str, ...]] = {
    "retry": ("dead", "expired", "cancelled"),
    "cancel": UPCOMING,
    "promote": UPCOMING,
    "reschedule": UPCOMING,
    "replay": ("done", "dead", "expired", "cancelled"),
}
PRIVATE = {"payload", "headers"}
# Changes jobs from a cursor on: after so many others, and at most so many. Returns their number and the next cursor.
ChangeChunk = Callable[[UUID | None, int, int], Awaitable[tuple[int, UUID | None]]]


@dataclass(frozen=True)
class Preview:
    """The number of jobs that a change would affect, at least as many if there are `more`, and the newest of them."""

    count: int
    more: bool
    sample: tuple[Row, ...]


@dataclass(frozen=True)
class Changed:
    """The outcomes of a change to many jobs, and the reasons of refusals. `after` continues; None at the end."""

    outcomes: dict[str, int]
    refusals: dict[str, int]
    after: UUID | None


@sync_or_async
async def preview_matching(executor: Executor, verb: Verb, search: JobSearch) -> Preview:
    """Count the jobs that `change_matching` would change; it changes nothing."""
    search = possible(verb, search)
    if not search.states:
        return Preview(0, False, ())
    counts = await count_matching(executor, search)
    found = await search_jobs(executor, search, limit=SAMPLE)
    return Preview(counts.total, not counts.complete, found.rows)


@sync_or_async
async def change_matching(
    executor: Executor,
    verb: Verb,
    search: JobSearch,
    *,
    limit: int = 1000,
    after: UUID | None = None,
    per_minute: float | None = None,
    reason: str = "on request",
    run_at: datetime | None = None,
    delay: timedelta | None = None,
    actor: str | None = None,
) -> Changed:
    """Make a change to the jobs that match, newest first, up to `limit`, and write an audit entry with the search.

    Each chunk of 500 is a transaction. It ends after 15 seconds; `after` of the outcome continues there. `per_minute`
    spreads the jobs of a retry from now on. If a chunk fails, the entry has the outcomes of those before and the error.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {MAX_LIMIT}, got {limit}")
    search = possible(verb, search)
    step = step_of(per_minute) if per_minute is not None else timedelta()
    outcomes, refusals = Counter[str](), Counter[str]()
    facts: dict[str, Any] = {"change": verb, "filter": _facts(search)}

    async def change_chunk(before: UUID | None, done: int, size: int) -> tuple[int, UUID | None]:
        ids, _, _, cursor = await find_matching(executor, search, before=before, limit=size, every=True)
        make = _verb(executor, verb, reason, run_at, delay, (done * step, step), actor)
        for change in await make(ids) if ids else []:
            outcomes[change.outcome] += 1
            refusals.update([change.reason] if change.outcome == "refused" else [])
        return len(ids), cursor

    try:
        after = await _in_chunks(change_chunk, after, limit) if search.states else None
    except MinutehandError as error:
        with suppress(MinutehandError):
            failed: dict[str, Any] = {"outcomes": dict(outcomes), "failed": type(error).__name__}
            await audit.record(executor, "matching", actor, **facts, **failed)
        raise
    await audit.record(executor, "matching", actor, **facts, outcomes=dict(outcomes))
    return Changed(dict(outcomes), dict(refusals.most_common(20)), after)


async def _in_chunks(change: ChangeChunk, after: UUID | None, limit: int) -> UUID | None:
    """Change chunks until the limit, the end or the time is reached; return where to continue, None at the end."""
    began, done = monotonic(), 0
    while done < limit:
        count, after = await change(after, done, min(CHUNK, limit - done))
        done += count
        if after is None or monotonic() - began > MAX_SECONDS:
            break
    return after


def possible(verb: Verb, search: JobSearch) -> JobSearch:
    """Return the search for those of its jobs whose state allows the verb."""
    states = tuple(state for state in STATES[verb] if not search.states or state in search.states)
    return replace(search, states=states)


def _verb(
    executor: Executor,
    verb: Verb,
    reason: str,
    run_at: datetime | None,
    delay: timedelta | None,
    pace: tuple[timedelta, timedelta],
    actor: str | None,
) -> Callable[[Sequence[UUID]], Any]:
    start, step = pace
    made: dict[Verb, Callable[[Sequence[UUID]], Any]] = {
        "retry": lambda ids: jobs.retry(executor, ids, start=start, step=step, actor=actor),
        "cancel": lambda ids: jobs.cancel(executor, ids, reason, actor=actor),
        "promote": lambda ids: jobs.promote(executor, ids, actor=actor),
        "reschedule": lambda ids: jobs.reschedule(executor, ids, run_at, delay, actor=actor),
        "replay": lambda ids: jobs.replay(executor, ids, actor=actor),
    }
    return made[verb]


def _facts(search: JobSearch) -> dict[str, Any]:
    """Return the search for the audit trail, without the values of payloads and headers."""
    present = {name: value for name, value in asdict(search).items() if is_set(value)}
    return {name: sorted(value) if name in PRIVATE else value for name, value in present.items()}
