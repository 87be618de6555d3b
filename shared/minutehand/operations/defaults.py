"""Default options for the jobs of a kind or of a queue."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from minutehand.database import Executor, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import OPTIONS, NewJob, decode_job
from minutehand.model.retry import Retry
from minutehand.operations import audit


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """The defaults of a kind, including its queue, or those of a queue if `kind` is None. None means not set.

    A job gets each option from its enqueue call, else from its kind, else from its queue.
    """

    kind: str | None = None
    queue: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    timeout: timedelta | None = None
    retry: Retry | None = None
    on_dead: NewJob | str | None = None


@sync_or_async
async def list_defaults(executor: Executor) -> list[Defaults]:
    """Return the defaults of all kinds, by name, then those of all queues; those that set nothing are left out."""
    found = [
        Defaults(
            **{**record, "retry": record["retry"] and Retry.from_json(record["retry"])}
            | {"on_dead": record["on_dead"] and decode_job(record["on_dead"])}
        )
        for record in await executor.run("list_defaults")
    ]
    return [each for each in found if each != _nothing(each)]


def _nothing(each: Defaults) -> Defaults:
    """Return the defaults of the same kind or queue that set nothing."""
    return Defaults(queue=each.queue) if each.kind is None else Defaults(kind=each.kind)


@sync_or_async
async def set_defaults(executor: Executor, defaults: Defaults, *, actor: str | None = None) -> None:
    """Replace all defaults of a kind or of a queue. Existing jobs do not change."""
    if defaults.kind is None and defaults.queue is None:
        raise InvalidJobError("kind_is_a_name", "defaults must name a kind or a queue")
    retry = None if defaults.retry is None else defaults.retry.to_json()
    values: dict[str, Any] = {
        "queue": defaults.queue,
        "priority": defaults.priority,
        "max_attempts": defaults.max_attempts,
        "timeout": defaults.timeout,
    }
    if defaults.kind is not None:
        values["kind"] = defaults.kind
    text = None if retry is None else json.dumps(retry, allow_nan=False)
    on_dead = None if defaults.on_dead is None else OPTIONS["on_dead"].check(defaults.on_dead, "on_dead")
    async with executor.transaction():
        statement = "set_queue_defaults" if defaults.kind is None else "set_defaults"
        await executor.run(statement, **values, retry=text, on_dead=on_dead)
        await audit.record(
            executor, "defaults", actor, **values, retry=retry, on_dead=_kind(defaults.on_dead)
        )


def _kind(job: NewJob | str | None) -> str | None:
    """Return the kind alone: the audit trail contains no payloads."""
    return job.kind if isinstance(job, NewJob) else job
