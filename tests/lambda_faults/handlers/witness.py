"""Record the start and the end of an attempt, and work as long as the payload says."""

import os
import time
from typing import Any

from minutehand import Database, Job

# A second connection, in addition to that of the worker.
facts = Database(os.environ["DATABASE_URL"])


def handle(payload: dict[str, Any], job: Job) -> int:
    note(job, "begin")
    try:
        time.sleep(payload["seconds"])
    finally:
        note(job, "end")
    return job.attempt


def note(job: Job, what: str) -> None:
    facts.connection.execute(
        "insert into facts (job, attempt, what, until) values (%s, %s, %s, %s)",
        [job.id, job.attempt, what, job.claimed + job.lease.duration + job.lease.grace],
    )
