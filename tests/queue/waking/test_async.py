"""Async connections in the mode `prompt`: their jobs are offered after the commit, and their workers invoked."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import psycopg

from minutehand import AsyncDatabase, NewJob, batch, enqueue, enqueue_many, wake
from minutehand.operations.controls import pause
from minutehand.operations.jobs import cancel
from tests.event_loop import run_in_loop
from tests.queue.stage import LONG, Queue
from tests.queue.waking.conftest import Lambda

Act = Callable[[AsyncDatabase], Coroutine[Any, Any, Any]]


def run(queue: Queue, act: Act) -> Any:
    """Run an act on an async database."""

    async def within() -> Any:
        database = AsyncDatabase(queue.url)
        try:
            return await act(database)
        finally:
            await database.close()

    return run_in_loop(within())


def test_job_of_an_async_database_is_offered_at_once(queue: Queue, aws: Lambda) -> None:
    job = run(queue, lambda database: enqueue("echo", connection=database))

    assert aws.offered == [[str(job.id)]]
    assert queue.row(job.id).state == "offered"


def test_jobs_of_an_async_bulk_are_offered_together(queue: Queue, aws: Lambda) -> None:
    async def act(database: AsyncDatabase) -> list[Any]:
        return [each async for each in enqueue_many([NewJob("echo")] * 2, connection=database)]

    jobs = run(queue, act)

    assert sorted(job for event in aws.offered for job in event) == sorted(str(job.id) for job in jobs)


def test_async_transaction_of_the_caller_is_woken_by_hand(queue: Queue, aws: Lambda) -> None:
    async def act() -> Any:
        async with await psycopg.AsyncConnection.connect(queue.url) as connection:
            job = await enqueue("echo", connection=connection)
        assert aws.events == []
        async with AsyncDatabase(queue.url) as database:
            await wake(job, connection=database)
        return job

    job = run_in_loop(act())

    assert aws.offered == [[str(job.id)]]


def test_refused_async_offer_is_withdrawn(queue: Queue, aws: Lambda) -> None:
    aws.refuses = True

    job = run(queue, lambda database: enqueue("echo", connection=database))

    assert queue.row(job.id).state == "due"


def test_jobs_of_an_async_batch_are_offered_after_its_commit(queue: Queue, aws: Lambda) -> None:
    async def act(database: AsyncDatabase) -> Any:
        async with batch(connection=database) as opened:
            return await opened.enqueue("echo")

    job = run(queue, act)

    assert aws.offered == [[str(job.id)]]


def test_call_with_one_connection_wakes_the_dispatcher_with_it(queue: Queue, aws: Lambda) -> None:
    first = queue.enqueue(delay=LONG)
    queue.enqueue("next", after=[first], after_failure="run")

    async def act() -> None:
        async with AsyncDatabase(queue.url, connections=1) as database:
            # A second connection is never free.
            await asyncio.wait_for(cancel(database, [first]), 60)

    run_in_loop(act())

    assert aws.wakes == 1


def test_paused_async_job_wakes_the_dispatcher(queue: Queue, aws: Lambda) -> None:
    pause(queue.database, kind="echo")

    run(queue, lambda database: enqueue("echo", connection=database))

    assert (aws.offered, aws.wakes) == ([], 1)
