"""Events that MINUTEHAND_EVENTS=table has stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Database
from minutehand.errors import InvalidJobError
from minutehand.model.event import NAMES, Name


@dataclass(frozen=True, kw_only=True)
class StoredEvent:
    """An event as the table keeps it; `at` is the moment by the database's clock."""

    id: UUID
    at: datetime
    name: Name
    job: UUID | None
    queue: str | None
    kind: str | None
    tenant: str
    facts: Mapping[str, Any]


def list_events(
    database: Database, *, names: Sequence[str] = (), queue: str | None = None, kind: str | None = None,
    job: UUID | None = None, since: datetime | None = None, most: int = 50,
) -> list[StoredEvent]:  # fmt: skip
    """Return the latest events that match, of those that MINUTEHAND_EVENTS=table keeps; the last one comes last."""
    if unknown := sorted(set(names) - {*NAMES}):
        raise InvalidJobError(
            "event_is_known", f"no event is called {unknown[0]!r}; they are {', '.join(NAMES)}"
        )
    records = database.run(
        "list_events", names=list(names) or None, queue=queue, kind=kind, job=job, since=since, most=most
    )
    return [StoredEvent(**record) for record in reversed(records)]
