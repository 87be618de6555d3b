"""Record the start, the effect and the end of an attempt, and work as long as the payload says."""

import os
import time
from typing import Any

from minutehand import Database, Job
from minutehand.model.outcome import OutOfTime

# A second connection, in addition to that of the worker: its records are committed at once.
records = Database(os.environ["DATABASE_URL"])


def handle(payload: dict[str, Any], job: Job) -> None:
    number = begin(payload, job)
    try:
        work(payload["seconds"], payload["deaf"])
        if payload["fail"]:
            raise RuntimeError("this job always fails")
    finally:
        # Before the outcome is written, so that the next attempt cannot start earlier than this.
        records.connection.execute(
            "update soak.attempts set ended = clock_timestamp() where number = %s", [number]
        )
    with job.transaction() as connection:
        connection.execute(
            "insert into soak.effects (job, attempt, payload) values (%s, %s, %s)",
            [job.id, job.attempt, payload["name"]],
        )


def work(seconds: float, deaf: bool) -> None:
    """Sleep; a deaf handler ignores that its time is over, as code that catches every exception does."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            time.sleep(min(left, 0.1))
        except OutOfTime:
            if not deaf:
                raise


def begin(payload: dict[str, Any], job: Job) -> int:
    """Record the start of an attempt with the time at which its lease ends."""
    row = records.connection.execute(
        """insert into soak.attempts (job, attempt, queue, key, tenant, payload, lease_ends)
           values (%s, %s, %s, %s, %s, %s, %s) returning number""",
        [
            job.id,
            job.attempt,
            job.queue,
            job.key,
            job.tenant,
            payload["name"],
            job.claimed + job.lease.duration + job.lease.grace,
        ],
    ).fetchone()
    assert row is not None
    return int(row[0])
