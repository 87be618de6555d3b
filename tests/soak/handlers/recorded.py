"""Record the start, the effect and the end of an attempt, and work as long as the payload says."""

import os
import time
from typing import Any

from minutehand import Database, Job, OutOfTime, enqueue

# A second connection, in addition to that of the worker: its records are committed at once.
records = Database(os.environ["DATABASE_URL"])


def handle(payload: dict[str, Any], job: Job) -> None:
    number, failed = begin(payload, job), False
    try:
        work(payload["seconds"], payload["deaf"])
        if payload["fail"]:
            failed = True
            raise RuntimeError("this job always fails")
    finally:
        # Before the outcome is written, so that the next attempt cannot start earlier than this.
        records.connection.execute(
            "update soak.attempts set ended = clock_timestamp(), failed = %s where number = %s",
            [failed, number],
        )
    if payload.get("adds") == "before":
        with records.transaction() as connection:
            add(connection, payload, job)
    with job.transaction() as connection:
        if payload.get("adds") == "together":
            add(connection, payload, job)
        connection.execute(
            "insert into soak.effects (job, attempt, payload) values (%s, %s, %s)",
            [job.id, job.attempt, payload["name"]],
        )


def add(connection: Any, payload: dict[str, Any], job: Job) -> None:
    """Add a job to the batch of this one; its name is that of the attempt, because each attempt may add one."""
    name, fails = f"{payload['name']}-{job.attempt}", payload["added_fails"]
    added = enqueue(
        job.kind,
        {"name": name, "seconds": payload["seconds"], "fail": fails, "deaf": False},
        queue=job.queue,
        group=job.group,
        batch=job.batch,
        timeout=job.timeout,
        retry=job.retry,
        max_attempts=payload["attempts_of_added"],
        connection=connection,
    )
    connection.execute(
        """insert into soak.enqueued (id, payload, tenant, queue, "group", fails, batch)
           values (%s, %s, '', %s, %s, %s, %s)""",
        [added.id, name, job.queue, job.group, fails, job.batch],
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
        """insert into soak.attempts (job, attempt, queue, key, tenant, payload, "group", claimed, lease_ends)
           values (%s, %s, %s, %s, %s, %s, %s, %s, %s) returning number""",
        [
            job.id,
            job.attempt,
            job.queue,
            job.key,
            job.tenant,
            payload["name"],
            job.group,
            job.claimed,
            job.claimed + job.lease.duration + job.lease.grace,
        ],
    ).fetchone()
    assert row is not None
    return int(row[0])
