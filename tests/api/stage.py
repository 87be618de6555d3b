"""Change jobs in the database, without the API."""

from datetime import timedelta
from typing import Any

from minutehand import Database, Job
from minutehand.claim import take
from minutehand.finish import finish as finish_job
from minutehand.model.outcome import Done, Failed
from minutehand.model.payload import encode

TOKEN = "a-token-for-the-examples"


def claim_one(database: Database, queue: str = "default") -> Job:
    """Claim the next due job, as a worker."""
    (job,) = take(database, queue, 1, timedelta(minutes=1), timedelta(seconds=2))
    return job


def finish(job: Job, *, result: Any = None, error: dict[str, str] | None = None) -> None:
    """Finish a claimed job, well or badly."""
    outcome = Done(encode(result)) if error is None else Failed(error, final=True, result=encode(result))
    assert finish_job(job, outcome).ending != "lost"
