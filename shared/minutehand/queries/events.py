"""Events that were stored in the database, which MINUTEHAND_EVENTS=table turns on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Executor, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.model.event import NAMES, Name
from minutehand.model.stored import facts_of


@dataclass(frozen=True, kw_only=True)
class StoredEvent:
    """An event from the table; `at` is the time by the database's clock."""

    id: UUID
    at: datetime
    name: Name
    job: UUID | None
    queue: str | None
    kind: str | None
    tenant: str
    facts: Mapping[str, Any]


@sync_or_async
async def list_events(
    executor: Executor,
    *,
    names: Sequence[str] = (),
    queue: str | None = None,
    kind: str | None = None,
    job: UUID | None = None,
    since: datetime | None = None,
    limit: int = 50,
) -> list[StoredEvent]:
    """Return the latest stored events that match, in the order in which they happened."""
    if unknown := sorted(set(names) - {*NAMES}):
        raise InvalidJobError(
            "event_is_known", f"event must be one of {', '.join(NAMES)}, got {unknown[0]!r}"
        )
    records = await executor.run(
        "list_events", names=list(names) or None, queue=queue, kind=kind, job=job, since=since, limit=limit
    )
    return [StoredEvent(**record | {"facts": facts_of(record["facts"])}) for record in reversed(records)]
