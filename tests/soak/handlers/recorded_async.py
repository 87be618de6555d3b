"""The handler `recorded` as an async one, several of which run at the same time."""

import asyncio
import os
from typing import Any

import psycopg

from minutehand import AsyncJob


async def handle(payload: dict[str, Any], job: AsyncJob) -> None:
    url = os.environ["DATABASE_URL"]
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as records:
        number = await begin(records, payload, job)
        try:
            await work(payload["seconds"], payload["deaf"])
            if payload["fail"]:
                raise RuntimeError("this job always fails")
        finally:
            # Before the outcome is written, so that the next attempt cannot start earlier than this.
            await records.execute(
                "update soak.attempts set ended = clock_timestamp() where number = %s", [number]
            )
    async with job.transaction() as connection:
        await connection.execute(
            "insert into soak.effects (job, attempt, payload) values (%s, %s, %s)",
            [job.id, job.attempt, payload["name"]],
        )


async def work(seconds: float, deaf: bool) -> None:
    """Wait; a deaf handler ignores that it is cancelled, as code that catches every exception does."""
    end = asyncio.get_running_loop().time() + seconds
    while (left := end - asyncio.get_running_loop().time()) > 0:
        try:
            await asyncio.sleep(min(left, 0.1))
        except asyncio.CancelledError:
            if not deaf:
                raise


async def begin(records: psycopg.AsyncConnection[Any], payload: dict[str, Any], job: AsyncJob) -> int:
    """Record the start of an attempt with the time at which its lease ends."""
    cursor = await records.execute(
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
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])
