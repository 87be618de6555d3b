"""AsyncDatabase: a pool of async connections, with the rules of Database."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from minutehand import AsyncDatabase, InvalidJobError, NewJob, enqueue, enqueue_many, wait
from minutehand.database import liveness
from minutehand.model.event import Event
from minutehand.operations.jobs import cancel
from minutehand.queries.jobs import list_jobs
from tests.event_loop import run_in_loop
from tests.queue.stage import Queue
from tests.servers import Database

Run = Callable[[Callable[[AsyncDatabase], Coroutine[Any, Any, Any]]], Any]
BACKENDS = "select count(*) as n from pg_stat_activity where application_name = 'minutehand'"


@pytest.fixture
def run(database: Database) -> Run:
    """Run a scenario with an AsyncDatabase of two connections, which is closed at the end."""

    async def play(scenario: Callable[[AsyncDatabase], Coroutine[Any, Any, Any]]) -> Any:
        async with AsyncDatabase(database.url, connections=2) as db:
            return await scenario(db)

    return lambda scenario: run_in_loop(play(scenario))


def test_calls_run_concurrently_on_few_connections(run: Run, queue: Queue) -> None:
    async def scenario(db: AsyncDatabase) -> int:
        await asyncio.gather(*(enqueue("ship", n, connection=db) for n in range(20)))
        many = [item async for item in enqueue_many([NewJob("ship")] * 5, connection=db)]
        assert [item.outcome for item in many] == ["created"] * 5
        return int(queue.sql(BACKENDS)[0]["n"])

    before = int(queue.sql(BACKENDS)[0]["n"])
    assert run(scenario) - before <= 2
    assert len(queue.sql("select id from minutehand.jobs")) == 25


def test_wait_and_cancel_are_awaited(run: Run, queue: Queue) -> None:
    async def scenario(db: AsyncDatabase) -> Any:
        job = await enqueue("ship", connection=db)
        waiting = asyncio.create_task(wait(job.id, timedelta(seconds=20), connection=db))
        await asyncio.sleep(0)
        (change,) = await cancel(db, [job.id], "no")
        assert change.outcome == "changed"
        return await waiting

    assert run(scenario).state == "cancelled"


def test_transaction_commits_with_its_events(run: Run, queue: Queue, events: list[Event]) -> None:
    async def scenario(db: AsyncDatabase) -> None:
        async with db.transaction() as connection:
            await enqueue("kept", connection=connection)
            assert events == []
        with suppress(ZeroDivisionError):
            async with db.transaction() as connection:
                await enqueue("lost", connection=connection)
                raise ZeroDivisionError

    run(scenario)

    assert [event.kind for event in events] == ["kept"]
    assert [row.kind for row in list_jobs(queue.database).rows] == ["kept"]


def test_errors_leave_no_connection_in_a_transaction(run: Run) -> None:
    async def scenario(db: AsyncDatabase) -> list[Any]:
        for _ in range(3):
            with pytest.raises(InvalidJobError):
                await enqueue("not a kind", connection=db)
        return [await enqueue("ship", connection=db) for _ in range(3)]

    assert len(run(scenario)) == 3


def test_cancelled_calls_leave_the_pool_usable(run: Run, queue: Queue) -> None:
    async def scenario(db: AsyncDatabase) -> Any:
        with queue.another().transaction() as locking:
            locking.execute("lock table minutehand.jobs_live")
            jobs = [NewJob("ship")] * 3
            calls = [enqueue("ship", connection=db), _all(enqueue_many(jobs, connection=db))]
            tasks = [asyncio.ensure_future(call) for call in calls]
            while len(queue.sql("select pid from pg_locks where not granted")) < 2:
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            cancelled = await asyncio.gather(*tasks, return_exceptions=True)
            assert [type(each) for each in cancelled] == [asyncio.CancelledError] * 2
        return [await enqueue("ship", connection=db) for _ in range(3)]

    assert len(run(scenario)) == 3
    assert len(queue.sql("select id from minutehand.jobs")) == 3


async def _all(items: Any) -> list[Any]:
    return [item async for item in items]


def test_dead_connection_is_replaced(run: Run, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "IDLE_SECONDS", 0)

    async def scenario(db: AsyncDatabase) -> Any:
        async with db.acquire() as connection:
            process = connection.info.backend_pid
        queue.sql("select pg_terminate_backend(%(process)s, 60000)", process=process)
        return await enqueue("ship", connection=db)

    assert run(scenario).outcome == "created"


def test_connection_that_is_left_in_a_transaction_is_not_used_again(run: Run, queue: Queue) -> None:
    async def scenario(db: AsyncDatabase) -> None:
        async with db.acquire() as connection:
            await connection.execute("begin")
        await enqueue("ship", connection=db)

    run(scenario)

    assert len(queue.sql("select id from minutehand.jobs")) == 1


def test_each_event_loop_has_connections_of_its_own(database: Database) -> None:
    db = AsyncDatabase(database.url, connections=1)

    async def scenario() -> list[str]:
        # More calls than connections, so that some wait in this event loop.
        enqueued = await asyncio.gather(*(enqueue("ship", connection=db) for _ in range(3)))
        return [each.outcome for each in enqueued]

    async def last() -> list[str]:
        async with db:
            return await scenario()

    assert [run_in_loop(scenario()), run_in_loop(last())] == [["created"] * 3] * 2
