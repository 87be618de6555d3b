"""What a kind's jobs get when their enqueuer says nothing, and a queue's when their kind says nothing either."""

import json
from dataclasses import dataclass
from datetime import timedelta

from minutehand.database import Database
from minutehand.errors import InvalidJobError
from minutehand.model.retry import Retry


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """A kind's defaults, its queue among them; or, without a kind, those of a queue. What is None is not said."""

    kind: str | None = None
    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    timeout: timedelta | None = None
    retry: Retry | None = None


def list_defaults(database: Database) -> list[Defaults]:
    """Return every kind's defaults, by kind, then every queue's."""
    records = database.run("defaults")
    return [
        Defaults(**{**record, "retry": record["retry"] and Retry.from_json(record["retry"])})
        for record in records
    ]


def set_defaults(database: Database, defaults: Defaults) -> None:
    """Set all defaults of a kind or of a queue at once; jobs that are enqueued already keep what they got."""
    retry = None if defaults.retry is None else json.dumps(defaults.retry.to_json(), allow_nan=False)
    said = {
        "queue": defaults.queue, "priority": defaults.priority, "max_attempts": defaults.max_attempts,
        "timeout": defaults.timeout, "retry": retry,
    }  # fmt: skip
    if defaults.kind is not None:
        database.run("set_defaults", kind=defaults.kind, **said)
    elif defaults.queue is not None:
        database.run("set_queue_defaults", **said)
    else:
        raise InvalidJobError("kind_is_a_name", "name the kind or the queue whose defaults these are")
