"""Procrastinate: workers that end when no job is left."""

import asyncio
import logging
from collections.abc import Callable

from procrastinate import App, PsycopgConnector

from bench.queues.clients.program import KIND, Load, Timed, drain_in_processes, main, timed

CHUNK = 1000


def prepare(url: str, load: Load) -> None:
    """Create its tables."""

    async def apply() -> None:
        async with _app(url).open_async() as app:
            await app.schema_manager.apply_schema_async()

    asyncio.run(apply())


def bulk(url: str, load: Load) -> Timed:
    """Defer jobs in batches."""
    app = _app(url)
    task = app.task(name=KIND)(_noop)
    payloads = load.payloads

    async def defer() -> None:
        for start in range(0, load.jobs, CHUNK):
            await task.batch_defer_async(*payloads[start : start + CHUNK])  # type: ignore[arg-type]

    with asyncio.Runner() as runner:
        runner.run(app.open_async().__aenter__())
        result = timed(load.jobs, lambda: runner.run(defer()))
        runner.run(app.close_async())
    return result


def worker(url: str, load: Load, connected: Callable[[], object]) -> int:
    """Handle jobs until none is left."""
    logging.disable(logging.CRITICAL)
    handled: list[int] = []
    app = _app(url)

    @app.task(name=KIND)
    async def noop(n: int) -> None:
        handled.append(n)

    async def drain() -> None:
        async with app.open_async():
            connected()
            await app.run_worker_async(
                concurrency=1, wait=False, install_signal_handlers=False, listen_notify=False
            )

    asyncio.run(drain())
    return len(handled)


def _app(url: str) -> App:
    return App(connector=PsycopgConnector(conninfo=url))


async def _noop(n: int) -> None:
    """Do nothing: this process only enqueues."""


if __name__ == "__main__":
    main({"prepare": prepare, "bulk": bulk, "drain": drain_in_processes(worker)})
