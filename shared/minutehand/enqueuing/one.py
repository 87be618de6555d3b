"""One: enqueue one job, with one statement."""

from minutehand import waking
from minutehand.database import Executor
from minutehand.enqueuing.parameters import statement_parameters
from minutehand.enqueuing.preparation import Preparation
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.enqueued import Enqueued
from minutehand.model.new_job import NewJob


async def enqueue_one(executor: Executor, given: NewJob) -> Enqueued:
    """Check and insert a job, and publish its event."""
    job = Preparation.read()(given)
    (parameters,) = await statement_parameters(executor, [job])
    async with waking.transaction(executor):
        (record,) = await executor.run("enqueue", **parameters)
        result = Enqueued(**record)
        await waking.wake(executor, [result])
    # Created only if something gets it.
    await publish(executor, (emit.enqueued(job, each) for each in (result,)))
    return result
