"""PgQueuer: the statements of its workers, through its `Queries`."""

import asyncio
import uuid
from datetime import timedelta
from typing import Any

import asyncpg
from pgqueuer import Queries
from pgqueuer.db import AsyncpgDriver
from pgqueuer.ports.repository import EntrypointExecutionParameter

from bench.snapshot.clients.steady import main

KIND = "noop"
UNLIMITED = EntrypointExecutionParameter(concurrency_limit=0)
HEARTBEAT = timedelta(seconds=30)


class PgQueuer:
    """A worker of PgQueuer, with an event loop of its own."""

    def __init__(self, url: str) -> None:
        """Connect."""
        self._url, self._worker = url, uuid.uuid4()
        self._runner = asyncio.Runner()
        self._queries: Any = None

    def prepare(self) -> None:
        """Create its tables."""
        self._run("install")

    def enqueue(self, count: int) -> None:
        """Enqueue jobs together."""
        if count:
            self._run("enqueue", [KIND] * count, [b"{}"] * count, [0] * count)

    def claim(self, batch: int) -> list[Any]:
        """Dequeue jobs."""
        jobs: list[Any] = self._run("dequeue", batch, {KIND: UNLIMITED}, self._worker, None, HEARTBEAT)
        return jobs

    def finish(self, jobs: list[Any]) -> None:
        """Move jobs to its log."""
        self._run("log_jobs", [(job, "successful", None) for job in jobs])

    def close(self) -> None:
        """Close the event loop, and the connection with it."""
        self._runner.close()

    def _run(self, name: str, *arguments: Any) -> Any:
        return self._runner.run(self._call(name, arguments))

    async def _call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if self._queries is None:
            self._queries = Queries(AsyncpgDriver(await asyncpg.connect(self._url)))
        return await getattr(self._queries, name)(*arguments)


if __name__ == "__main__":
    main(PgQueuer)
