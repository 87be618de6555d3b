"""What a kind's jobs get when their enqueuer says nothing."""

import json
from dataclasses import dataclass
from datetime import timedelta

from minutehand.database import Database
from minutehand.retry import Retry


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """A kind's defaults; what is None comes from the table's own."""

    kind: str
    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    timeout: timedelta | None = None
    retry: Retry | None = None


def list_defaults(database: Database) -> list[Defaults]:
    """Return every kind's defaults, by kind."""
    records = database.run("defaults")
    return [
        Defaults(**{**record, "retry": record["retry"] and Retry.from_json(record["retry"])})
        for record in records
    ]


def set_defaults(database: Database, defaults: Defaults) -> None:
    """Set all of a kind's defaults at once; jobs that are enqueued already keep what they got."""
    retry = None if defaults.retry is None else json.dumps(defaults.retry.to_json(), allow_nan=False)
    database.run(
        "set_defaults", kind=defaults.kind, queue=defaults.queue, priority=defaults.priority,
        max_attempts=defaults.max_attempts, timeout=defaults.timeout, retry=retry,
    )  # fmt: skip
