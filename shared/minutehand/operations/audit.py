"""The audit trail: each change by a person, written in the transaction of the change, without private data."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Executor, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.model.stored import facts_of

MAX_PAGE = 1000
# Facts must not hold their contents. Their names may appear as values.
PRIVATE = {"payload", "headers", "result"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One change. `actor` is the name that the caller gave, or else the database user."""

    id: UUID
    at: datetime
    tenant: str
    actor: str
    verb: str
    job: UUID | None
    facts: dict[str, Any]


@sync_or_async
async def record(
    executor: Executor, /, verb: str, actor: str | None, job: UUID | None = None, **facts: Any
) -> None:
    """Write one audit entry. Call it in the transaction of the change, so that both commit or neither does."""
    await record_all(executor, verb, actor, [(job, facts)])


@sync_or_async
async def record_all(
    executor: Executor,
    verb: str,
    actor: str | None,
    changes: Sequence[tuple[UUID | None, Mapping[str, Any]]],
    tenants: Sequence[str | None] = (),
) -> None:
    """Write an entry for each of many jobs, with its facts, to the trail of its tenant or else of the session's."""
    if not changes:
        return
    if leaked := PRIVATE & {name for _, facts in changes for name in facts}:
        raise ValueError(f"the audit trail must not contain {min(leaked)}")
    await executor.run(
        "record_audit",
        actor=actor,
        verb=verb,
        jobs=[job for job, _ in changes],
        facts=[_to_json(facts) for _, facts in changes],
        tenants=list(tenants),
    )


@sync_or_async
async def list_audit(
    executor: Executor,
    *,
    job: UUID | None = None,
    actor: str | None = None,
    verb: str | None = None,
    before: UUID | None = None,
    limit: int = 50,
) -> list[Entry]:
    """Return a page of the audit trail, the latest entry first. The id of the last is `before` for the next page."""
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {MAX_PAGE}, got {limit}")
    records = await executor.run("list_audit", job=job, actor=actor, verb=verb, before=before, limit=limit)
    return [Entry(**entry | {"facts": facts_of(entry["facts"])}) for entry in records]


def _to_json(facts: Mapping[str, Any]) -> str:
    present = {name: value for name, value in facts.items() if value not in (None, "")}
    return json.dumps(present, default=str)
