"""Delete jobs: by id, all upcoming jobs of a queue, or finished jobs. A deleted job cannot be restored.

To stop jobs without deleting them, pause their queue. To end them and keep them in the history, cancel them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Database, Record
from minutehand.model.new_job import check_moment
from minutehand.model.row import FINISHED
from minutehand.operations import audit
from minutehand.operations.change import Change, apply
from minutehand.queries.jobs import check_states

CHUNK = 5000


def delete(database: Database, ids: Sequence[UUID], *, actor: str | None = None) -> list[Change]:
    """Delete upcoming jobs by id. Only the audit trail keeps their queue, kind and key."""

    def facts(row: Record) -> Mapping[str, Any]:
        return {name: row[name] for name in ("queue", "kind", "key")}

    return apply(database, "delete", ids, {}, actor=actor, facts=facts)


def count_upcoming(database: Database, queue: str) -> int:
    """Count the jobs that `delete_upcoming` would delete."""
    return int(database.run("count_upcoming", queue=queue)[0]["jobs"])


def delete_upcoming(database: Database, queue: str, *, actor: str | None = None) -> Iterator[int]:
    """Delete all upcoming jobs of a queue in chunks; yield the size of each chunk. Running jobs stay."""
    return _delete_in_chunks(database, "delete_upcoming", {"queue": queue}, actor)


def count_finished(
    database: Database,
    before: datetime,
    *,
    queue: str | None = None,
    kind: str | None = None,
    states: Sequence[str] = (),
) -> int:
    """Count the jobs that `delete_finished` would delete."""
    return int(database.run("count_finished", **_finished(before, queue, kind, states))[0]["jobs"])


def delete_finished(
    database: Database,
    before: datetime,
    *,
    queue: str | None = None,
    kind: str | None = None,
    states: Sequence[str] = (),
    actor: str | None = None,
) -> Iterator[int]:
    """Delete the jobs that finished before a moment, in chunks; yield the size of each chunk."""
    return _delete_in_chunks(database, "delete_finished", _finished(before, queue, kind, states), actor)


def _finished(before: datetime, queue: str | None, kind: str | None, states: Sequence[str]) -> dict[str, Any]:
    return {
        "before": check_moment(before, "before"),
        "queue": queue,
        "kind": kind,
        "states": check_states(states, sorted(FINISHED)),
    }


def _delete_in_chunks(
    database: Database, statement: str, filters: dict[str, Any], actor: str | None
) -> Iterator[int]:
    def delete_chunk() -> int:
        with database.transaction():
            deleted = len(database.run(statement, limit=CHUNK, **filters))
            if deleted:
                audit.record(database, "delete", actor, **filters, jobs=deleted)
        return deleted

    return _until_zero(lambda: database.retry_on_conflict(delete_chunk))


def _until_zero(delete_chunk: Callable[[], int]) -> Iterator[int]:
    while deleted := delete_chunk():
        yield deleted
