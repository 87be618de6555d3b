"""Procrastinate: the statements of its workers, through its job manager. They fetch one job at a time."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.jobs import Job, Status

from bench.snapshot.clients.steady import main


class Procrastinate:
    """A worker of Procrastinate, with an event loop of its own."""

    def __init__(self, url: str) -> None:
        """Open a pool of one connection."""
        self._runner = asyncio.Runner()
        self._app = App(connector=PsycopgConnector(conninfo=url, min_size=1, max_size=1))
        self._task = self._app.task(name="noop")(_noop)
        self._worker: int | None = None
        self._runner.run(self._app.open_async().__aenter__())

    def prepare(self) -> None:
        """Create its tables."""
        self._run(self._app.schema_manager.apply_schema_async())

    def enqueue(self, count: int) -> None:
        """Defer jobs together."""
        if count:
            arguments: list[Any] = [{"n": n} for n in range(count)]
            self._run(self._task.batch_defer_async(*arguments))

    def claim(self, batch: int) -> list[Job]:
        """Fetch a job."""
        if self._worker is None:
            self._worker = self._run(self._app.job_manager.register_worker())
        job = self._run(self._app.job_manager.fetch_job(None, self._worker))
        return [job] if job else []

    def finish(self, jobs: list[Job]) -> None:
        """Mark a job as succeeded."""
        for job in jobs:
            self._run(self._app.job_manager.finish_job(job, Status.SUCCEEDED, delete_job=False))

    def close(self) -> None:
        """Close the pool and the event loop."""
        self._run(self._app.close_async())
        self._runner.close()

    def _run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(call)


async def _noop(n: int) -> None:
    """Do nothing: the load finishes the jobs without running them."""


if __name__ == "__main__":
    main(Procrastinate)
