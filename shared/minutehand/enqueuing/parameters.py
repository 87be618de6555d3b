"""The parameters of the statements that enqueue jobs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from minutehand.database import Executor
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import NewJob, parameters
from minutehand.settings import encrypts


async def statement_parameters(
    executor: Executor, jobs: Sequence[NewJob | InvalidJobError]
) -> list[dict[str, Any]]:
    """Return the statement parameters of jobs, with their payloads encrypted if this process has a key."""
    encrypting = encrypts()
    timed = any(isinstance(job, NewJob) and (encrypting or job.every is not None) for job in jobs)
    now: datetime | None = (await executor.run("clock"))[0]["now"] if timed else None

    def clock() -> datetime:
        assert now is not None
        return now

    plain = [parameters(job, clock) for job in jobs]
    if not encrypting:
        return plain
    # Imported only when used, for the sake of cold starts.
    from minutehand.encryption.envelope import encrypt_parameters

    tenant = executor.tenant
    # The key may come from a service.
    return await executor.block(lambda: [encrypt_parameters(each, clock, tenant) for each in plain])
