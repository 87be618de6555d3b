"""`async with job.transaction()`: one at a time on the worker's second connection, with the job's completion."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from minutehand import AsyncJob, enqueue
from minutehand.attempts.in_turn import run_jobs
from minutehand.events import hooks
from minutehand.handlers import HandlerTable
from minutehand.model.event import Event
from minutehand.model.outcome import Finish
from tests.queue.stage import Queue
from tests.retries import IN_AN_HOUR

LIMIT = timedelta(seconds=30)
SHORT = timedelta(milliseconds=300)
STATE = "select minutehand.state(j) as state from minutehand.jobs j where id = %(id)s"


@pytest.fixture
def booking(direct_queue: Queue) -> Queue:
    direct_queue.sql("create table booked (n int)")
    return direct_queue


def run(queue: Queue, *handlers: Callable[..., Any], **options: Any) -> list[Finish]:
    """Run one job for each handler, at the same time."""
    table = {f"kind{n}": handler for n, handler in enumerate(handlers)}
    for kind in table:
        queue.enqueue(kind, **{"timeout": LIMIT} | options)
    return run_jobs(queue.take(10), HandlerTable(table), stopping=lambda: False, concurrency=10)


def booked(queue: Queue) -> list[int]:
    return [row["n"] for row in queue.sql("select n from booked order by n")]


async def book(_payload: Any, job: AsyncJob) -> None:
    async with job.transaction() as connection:
        await asyncio.sleep(0)
        await connection.execute("insert into booked values (1)")
        async with connection.transaction():
            await connection.execute("insert into booked values (2)")
        job.result = "booked"


def test_transactions_of_concurrent_jobs_take_turns(booking: Queue) -> None:
    finishes = run(booking, *[book] * 5)

    assert [(finish.ending, finish.result) for finish in finishes] == [("done", '"booked"')] * 5
    assert booked(booking) == [1] * 5 + [2] * 5


def test_failed_transaction_rolls_back_alone(booking: Queue) -> None:
    async def fail(_payload: Any, job: AsyncJob) -> None:
        async with job.transaction() as connection:
            await connection.execute("insert into booked values (3)")
            job.result = "lost"
            raise ValueError

    async def break_statement(_payload: Any, job: AsyncJob) -> None:
        async with job.transaction() as connection:
            await connection.execute("insert into booked values (4)")
            await connection.execute("select 1 / 0")

    finishes = run(booking, fail, break_statement, book)

    assert [finish.ending for finish in finishes] == ["retrying", "retrying", "done"]
    assert [(finish.error or {}).get("type") for finish in finishes] == ["ValueError", "DivisionByZero", None]
    assert booked(booking) == [1, 2]


def test_other_outcomes_are_written_while_a_transaction_is_open(booking: Queue) -> None:
    quick_job = booking.enqueue("kind1")

    async def wait_inside(_payload: Any, job: AsyncJob) -> None:
        async with job.transaction() as connection:
            await connection.execute("insert into booked values (3)")
            while booking.sql(STATE, id=quick_job)[0]["state"] != "done":
                await asyncio.sleep(0)

    async def quick(_payload: Any) -> None:
        pass

    finishes = run(booking, wait_inside, quick)

    assert {finish.ending for finish in finishes} == {"done"}


def test_job_that_another_handler_enqueues_is_not_in_the_transaction(booking: Queue) -> None:
    opened, enqueued = asyncio.Event(), asyncio.Event()

    async def fail(_payload: Any, job: AsyncJob) -> None:
        async with job.transaction() as connection:
            await connection.execute("insert into booked values (3)")
            opened.set()
            await enqueued.wait()
            raise ValueError

    async def work(_payload: Any) -> None:
        await opened.wait()
        booking.enqueue("later")
        enqueued.set()

    finishes = run(booking, fail, work)

    assert [finish.ending for finish in finishes] == ["retrying", "done"]
    assert booking.sql("select count(*) as n from minutehand.jobs where kind = 'later'") == [{"n": 1}]


def test_job_enqueued_in_an_async_transaction_commits_with_it(booking: Queue) -> None:
    seen: list[str] = []

    async def enqueue_and(fails: bool, job: AsyncJob) -> None:
        async with job.transaction() as connection:
            await enqueue("fails" if fails else "good", connection=connection)
            if fails:
                raise ValueError

    async def good(_payload: Any, job: AsyncJob) -> None:
        await enqueue_and(False, job)

    async def bad(_payload: Any, job: AsyncJob) -> None:
        await enqueue_and(True, job)

    def see(event: Event) -> None:
        seen.append(event.kind or "")

    hooks.on("enqueued", see)
    try:
        run(booking, good, bad)
    finally:
        hooks.off(see)

    kinds = booking.sql("select kind from minutehand.jobs where kind in ('fails', 'good')")
    assert kinds == [{"kind": "good"}]
    assert ("good" in seen, "fails" in seen) == (True, False)


def test_transaction_out_of_time_is_rolled_back(booking: Queue) -> None:
    async def query(_payload: Any, job: AsyncJob) -> None:
        async with job.transaction() as connection:
            await connection.execute("insert into booked values (3)")
            await connection.execute("select pg_sleep(60)")

    (finish,) = run(booking, query, timeout=SHORT, retry=IN_AN_HOUR)
    (again,) = run(booking, book)

    assert ((finish.error or {})["type"], again.ending) == ("OutOfTime", "done")
    assert booked(booking) == [1, 2]


def test_transaction_of_a_lost_claim_is_rolled_back(booking: Queue) -> None:
    async def lose(_payload: Any, job: AsyncJob) -> None:
        async with job.transaction() as connection:
            await connection.execute("insert into booked values (3)")
            booking.pass_time(job.id)
            booking.take()

    (finish,) = run(booking, lose)

    assert (finish.ending, (finish.error or {})["type"]) == ("lost", "LostError")
    assert "the transaction was rolled back" in (finish.error or {})["message"]
    assert booked(booking) == []


def test_second_transaction_of_an_async_job_is_rejected(booking: Queue) -> None:
    async def twice(_payload: Any, job: AsyncJob) -> None:
        for _ in range(2):
            async with job.transaction() as connection:
                await connection.execute("insert into booked values (1)")

    (finish,) = run(booking, twice)

    assert (finish.ending, (finish.error or {})["type"]) == ("done", "LostError")
    assert booked(booking) == [1]
