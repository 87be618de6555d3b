"""Async jobs of one invocation: one ends, then another blocks the event loop until Lambda ends the process."""

import asyncio
import time
from contextlib import suppress
from typing import Any

from handlers.witness import facts, note

from minutehand import AsyncJob


async def handle(payload: dict[str, Any], job: AsyncJob) -> int:
    note(job, "begin")
    if job.attempt == 1 and payload["role"] != "ends":
        while not facts.connection.execute("select 1 from endings").fetchone():
            await asyncio.sleep(0.01)
        while payload["role"] == "blocks":
            with suppress(BaseException):
                time.sleep(60)
        await asyncio.Event().wait()
    return job.attempt
