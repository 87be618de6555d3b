"""One: enqueue one job, with one statement."""

from typing import Any

from minutehand import waking
from minutehand.database import Executor
from minutehand.enqueuing.parameters import statement_parameters
from minutehand.enqueuing.preparation import Preparation
from minutehand.events import emit
from minutehand.events.publish import has_listeners, publish
from minutehand.model.enqueued import Enqueued
from minutehand.model.keyed import is_plain
from minutehand.model.new_job import NewJob
from minutehand.waking.unrequested import unrequested


async def enqueue_one(executor: Executor, given: NewJob) -> Enqueued:
    """Check and insert a job, and publish its event."""
    job = Preparation.read()(given)
    (parameters,) = await statement_parameters(executor, [job])
    result = await _write(executor, parameters)
    if has_listeners():
        await publish(executor, [emit.enqueued(job, result)])
    return result


async def _write(executor: Executor, parameters: dict[str, Any]) -> Enqueued:
    name = "enqueue_plain" if is_plain(parameters) else "enqueue"
    if waking.is_off():
        (record,) = await executor.run(name, **parameters)
        result = Enqueued(**record)
        unrequested.needed |= result.outcome != "ignored"
        return result
    async with waking.transaction(executor):
        (record,) = await executor.run(name, **parameters)
        result = Enqueued(**record)
        await waking.wake(executor, [result])
    return result
