"""Search jobs by what no index serves, such as the cause of a failure or a value in the payload, in bounded steps."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Executor, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import check_time
from minutehand.model.row import FINISHED, Row
from minutehand.queries.jobs import MAX_PAGE, check_states, get_listed

# The most jobs that a page reads; a payload takes longer to search.
MOST_READ = 20_000
MOST_PAYLOADS = 5_000
MOST_COUNTED = 10_000
# A value that is also a number, a boolean or null.
LITERAL = re.compile(r"-?(0|[1-9][0-9]{0,17})([.][0-9]{1,17})?|true|false|null")


@dataclass(frozen=True, kw_only=True)
class JobSearch:
    """The jobs to find: those that match all that is set.

    `key_prefix` is the beginning of the key, `error` the type of the latest error, and `cause` one of
    `failures_by_cause`. `payload` maps paths such as `customer.id` to values; a number matches as a number and as text.
    `since` and `until` bound the time of enqueueing, the other two that of finishing.
    """

    queue: str | None = None
    kind: str | None = None
    key: str | None = None
    key_prefix: str | None = None
    group: str | None = None
    priority: int | None = None
    version: str | None = None
    tenant: str | None = None
    schedule: str | None = None
    batch: UUID | None = None
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    states: Sequence[str] = ()
    result_dropped: bool = False
    error: str | None = None
    cause: str | None = None
    payload: Mapping[str, str] = field(default_factory=dict, repr=False)
    since: datetime | None = None
    until: datetime | None = None
    finished_since: datetime | None = None
    finished_until: datetime | None = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the statements that search."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        others = {name: values.pop(name) for name in ("batch", "finished_since", "finished_until")}
        for name in ("since", "until"):
            values[name] = check_time(values[name], name)
        values["states"] = check_states(self.states)
        values["payload"] = _path(self.payload)
        present = {name: value for name, value in values.items() if is_set(value)}
        homes = {state in FINISHED for state in self.states}
        return {
            "filter": json.dumps(present, default=str),
            "batch": others["batch"],
            "finished": homes.pop() if len(homes) == 1 else None,
            "finished_since": check_time(others["finished_since"], "finished_since"),
            "finished_until": check_time(others["finished_until"], "finished_until"),
        }


def is_set(value: object) -> bool:
    """Return whether a filter is set. Priority 0 and an empty text are; they equal False, or are as false as None."""
    return value is not None and value is not False and value != {} and value != ()


@dataclass(frozen=True)
class Found:
    """The jobs that match, newest first. `read` jobs were searched; `before` continues, if there may be more.

    `stopped` means that the search ended because it had read as many jobs as it may.
    """

    rows: tuple[Row, ...]
    read: int
    stopped: bool
    before: UUID | None


@sync_or_async
async def search_jobs(
    executor: Executor, search: JobSearch, *, before: UUID | None = None, limit: int = 50
) -> Found:
    """Return a page of the jobs that match, newest first, from at most 20,000 jobs, 5,000 if payloads are searched.

    Of dead jobs, the last ones to die are searched; of others, the newest. `before` of the page continues the search.
    """
    ids, read, stopped, cursor = await find_matching(executor, search, before=before, limit=limit)
    return Found(tuple(await get_listed(executor, ids)), read, stopped, cursor)


@sync_or_async
async def find_matching(
    executor: Executor,
    search: JobSearch,
    *,
    before: UUID | None = None,
    limit: int = 50,
    every: bool = False,
) -> tuple[list[UUID], int, bool, UUID | None]:
    """Return the ids of a page of the jobs that match, how many were read, whether it stopped there, and the cursor.

    With `every`, following the cursor finds each dead job too, not only the last ones to die.
    """
    if not 1 <= limit <= 10 * MAX_PAGE:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {10 * MAX_PAGE}, got {limit}")
    most = MOST_PAYLOADS if search.payload else MOST_READ
    dead = tuple(search.states) == ("dead",)
    parameters = search.parameters() | {"before": before, "limit": limit + 1, "most": most}
    finished = {"finished": parameters.pop("finished")}
    (found,) = await executor.run(
        "search_dead" if dead else "search_jobs", **parameters, **({} if dead else finished)
    )
    if dead and every and found["read"] >= most:
        dead = False
        (found,) = await executor.run("search_jobs", **parameters, **finished)
    ids, stopped = list(found["ids"]), found["read"] >= most
    if len(ids) > limit:
        return ids[:limit], found["read"], False, ids[limit - 1]
    return ids, found["read"], stopped, found["last"] if stopped and not dead else None


@dataclass(frozen=True)
class Counts:
    """The number of jobs that match, by state; at least as many, or some, in the states where the search `stopped`.

    If not `complete`, there are jobs that were not searched, in whatever state.
    """

    states: dict[str, int]
    stopped: tuple[str, ...]
    complete: bool

    @property
    def total(self) -> int:
        """The number of jobs in all states."""
        return sum(self.states.values())


@sync_or_async
async def count_matching(executor: Executor, search: JobSearch) -> Counts:
    """Count the jobs that match by state, among the newest 10,000 unfinished, finished and dead ones."""
    records = await executor.run(
        "count_states",
        only_dead=tuple(search.states) == ("dead",),
        most=MOST_PAYLOADS if search.payload else MOST_COUNTED,
        **search.parameters(),
    )
    found = {record["state"]: record for record in records}
    searched = found.pop(None)
    return Counts(
        {state: record["jobs"] for state, record in found.items() if record["jobs"]},
        tuple(
            state
            for state, record in found.items()
            if record["stopped"] and (not search.states or state in search.states)
        ),
        not searched["stopped"],
    )


def _path(payload: Mapping[str, str]) -> str | None:
    """Return the conditions on a payload as a path of Postgres: all of them must hold."""
    if not payload:
        return None
    conditions = []
    for path, value in payload.items():
        place = "".join(f".{json.dumps(name)}" for name in path.split("."))
        texts = {json.dumps(value)} | ({value} if LITERAL.fullmatch(value) else set())
        conditions.append("(" + " || ".join(f"@{place} == {text}" for text in sorted(texts)) + ")")
    return f"$ ? ({' && '.join(conditions)})"
