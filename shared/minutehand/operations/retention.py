"""How long finished jobs, attempts and events are kept, and the maintenance step that drops what has expired."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, timedelta
from time import monotonic
from typing import Any, Literal

from minutehand.database import Database
from minutehand.operations import audit

FOREVER = timedelta.max
# Each step drops a day, deletes up to 5000 rows, or checks a day.
MAX_STEPS = 50
# A tick waits for it.
MAX_SECONDS = 1.0

Category = Literal["done", "dead", "expired", "cancelled", "attempts", "events"]


@dataclass(frozen=True, kw_only=True)
class Retention:
    """How long a queue's finished jobs are kept, by state, and the attempts and events of all its jobs.

    Without a queue it applies to every queue that sets no other. None means: as for every queue, or without a queue,
    forever. FOREVER keeps the rows of one queue.
    """

    queue: str | None = None
    done: timedelta | None = None
    dead: timedelta | None = None
    expired: timedelta | None = None
    cancelled: timedelta | None = None
    attempts: timedelta | None = None
    events: timedelta | None = None


@dataclass(frozen=True)
class Step:
    """One step on a day: `dropped`, rows `deleted`, `checked`, `held` for the archive, or `busy`.

    A step without a day concerns a default partition, which has the rows of days without a partition.
    """

    home: Literal["jobs_done", "attempts", "events"]
    day: date | None
    outcome: Literal["dropped", "deleted", "checked", "held", "busy"]
    jobs: int


CATEGORIES = tuple(field.name for field in fields(Retention) if field.name != "queue")


def list_retention(database: Database) -> list[Retention]:
    """Return the retention that is set, that for every queue first."""
    found: dict[str, dict[str, timedelta]] = {}
    for record in database.run("list_retention"):
        keep = FOREVER if record["keep"] is None else record["keep"]
        found.setdefault(record["queue"], {})[record["what"]] = keep
    return [Retention(queue=queue or None, **categories) for queue, categories in found.items()]


def set_retention(database: Database, retention: Retention, *, actor: str | None = None) -> None:
    """Replace the retention of a queue, or of every queue without one, and write an audit entry."""
    keeps = {name: getattr(retention, name) for name in CATEGORIES if getattr(retention, name) is not None}
    with database.transaction():
        database.run(
            "set_retention",
            queue=retention.queue or "",
            categories=list(keeps),
            keeps=[None if keep == FOREVER else keep for keep in keeps.values()],
        )
        facts: dict[str, Any] = {
            name: "forever" if keep == FOREVER else f"{keep}" for name, keep in keeps.items()
        }
        audit.record(database, "retention", actor, queue=retention.queue, **facts)


def get_keep_until_archived(database: Database) -> bool:
    """Return whether rows are kept until their day is archived."""
    return bool(database.run("get_keep_until_archived")[0]["keep_until_archived"])


def set_keep_until_archived(database: Database, keep: bool, *, actor: str | None = None) -> None:
    """Set whether retention waits for the archive, and write an audit entry. Deleting jobs never waits."""
    with database.transaction():
        database.run("set_keep_until_archived", keep=keep)
        audit.record(database, "retention", actor, keep_until_archived=keep)


def apply_retention(database: Database) -> tuple[Step, ...]:
    """Drop the days whose rows have all expired; of other days delete the expired rows, in chunks.

    Days that are locked, or left when the time is up, are for the next call.
    """
    return tuple(_steps(database))


def _steps(database: Database) -> Iterator[Step]:
    began = monotonic()
    for _ in range(MAX_STEPS):
        taken = [Step(**record) for record in database.run("retain")]
        yield from taken
        if not taken or taken[-1].outcome == "busy" or monotonic() - began > MAX_SECONDS:
            return
