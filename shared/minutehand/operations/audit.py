"""Audit: who changed what by hand, and when, written in the transaction of the change itself; never a payload."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Database
from minutehand.errors import InvalidJobError

MOST_LISTED = 1000
PRIVATE = {"payload", "headers", "result"}  # their names may be told, as values; what they hold may not


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Something that was done by hand; `who` is what the caller said, else the database's user."""

    id: UUID
    at: datetime
    tenant: str
    who: str
    verb: str
    job: UUID | None
    facts: dict[str, Any]


def record(database: Database, verb: str, who: str | None, job: UUID | None = None, **facts: Any) -> None:
    """Write down one change; call it in the transaction that makes it, so that neither is without the other."""
    record_all(database, verb, who, [(job, facts)])


def record_all(
    database: Database, verb: str, who: str | None, done: Sequence[tuple[UUID | None, Mapping[str, Any]]],
    tenants: Sequence[str | None] = (),
) -> None:  # fmt: skip
    """Write down the same change to many jobs, each with its facts, and whose each is if not the session's."""
    if not done:
        return
    if leaked := PRIVATE & {name for _, facts in done for name in facts}:
        raise ValueError(f"{sorted(leaked)[0]} has no place in the audit trail")
    database.run(
        "audit_record",
        who=who,
        verb=verb,
        jobs=[job for job, _ in done],
        facts=[_told(facts) for _, facts in done],
        tenants=list(tenants),
    )


def list_audit(
    database: Database, *, job: UUID | None = None, who: str | None = None, verb: str | None = None,
    before: UUID | None = None, most: int = 50,
) -> list[Entry]:  # fmt: skip
    """Return what was done by hand, the latest first; go on with `before`, the id of the last entry."""
    if not 1 <= most <= MOST_LISTED:
        raise InvalidJobError("page_is_bounded", f"a page has 1 to {MOST_LISTED} entries")
    records = database.run("audit_list", job=job, who=who, verb=verb, before=before, most=most)
    return [Entry(**entry | {"facts": entry["facts"] or {}}) for entry in records]


def _told(facts: Mapping[str, Any]) -> str:
    said = {name: value for name, value in facts.items() if value not in (None, "")}
    return json.dumps(said, default=str)
