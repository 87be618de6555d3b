"""PgQueuer: workers in drain mode, which write their outcomes in batches."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import asyncpg
from pgqueuer import PgQueuer, Queries
from pgqueuer.db import AsyncpgDriver
from pgqueuer.types import QueueExecutionMode

from bench.queues.clients.program import KIND, Load, Timed, drain_in_processes, main, timed


def prepare(url: str, load: Load) -> None:
    """Create its tables."""

    async def install() -> None:
        await Queries(AsyncpgDriver(await asyncpg.connect(url))).install()

    asyncio.run(install())


def bulk(url: str, load: Load) -> Timed:
    """Enqueue all jobs in one statement."""
    with asyncio.Runner() as runner:
        queries = Queries(AsyncpgDriver(runner.run(asyncpg.connect(url))))

        async def enqueue() -> None:
            payloads = [json.dumps(payload).encode() for payload in load.payloads]
            await queries.enqueue([KIND] * load.jobs, payloads, [0] * load.jobs)

        return timed(load.jobs, lambda: runner.run(enqueue()))


def drain(url: str, load: Load) -> Timed:
    """Run one consumer per process, or all in one process if they fetch single jobs; each was the faster layout."""
    if load.batch > 1:
        return drain_in_processes(worker)(url, load)
    with asyncio.Runner() as runner:
        handled: list[object] = []
        queues = runner.run(_consumers(url, load.workers, handled))
        took = timed(load.jobs, lambda: runner.run(_run(queues, load)))
        return replace(took, jobs=len(handled))


def worker(url: str, load: Load, connected: Callable[[], object]) -> int:
    """Handle jobs until none is left."""
    handled: list[object] = []
    with asyncio.Runner() as runner:
        queues = runner.run(_consumers(url, 1, handled))
        connected()
        runner.run(_run(queues, load))
    return len(handled)


async def _consumers(url: str, count: int, handled: list[object]) -> list[PgQueuer]:
    return [_consumer(await asyncpg.connect(url), handled) for _ in range(count)]


def _consumer(connection: Any, handled: list[object]) -> PgQueuer:
    queue = PgQueuer.from_asyncpg_connection(connection)

    @queue.entrypoint(KIND)
    async def noop(job: Any) -> None:
        handled.append(json.loads(job.payload))

    return queue


async def _run(queues: list[PgQueuer], load: Load) -> None:
    await asyncio.gather(
        *(queue.run(batch_size=load.batch, mode=QueueExecutionMode.drain) for queue in queues)
    )


if __name__ == "__main__":
    main({"prepare": prepare, "bulk": bulk, "drain": drain})
