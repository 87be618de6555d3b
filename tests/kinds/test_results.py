"""A decorated function runs as a job, and `wait` returns what it returned, as its declared type."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import psycopg
import pytest

from minutehand import Fail, Job, MismatchError, UnsuccessfulError, job, wait
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerPackage
from tests.event_loop import run_in_loop
from tests.queue.stage import Queue
from tests.servers import Database

NOW = timedelta()


@dataclass
class Receipt:
    sent: date
    attempt: int


def work(queue: Queue) -> list[str]:
    endings = run_jobs(queue.take(), HandlerPackage("no_such_package"), stopping=lambda: False)
    return [each.ending for each in endings]


@pytest.mark.parametrize("is_async", [False, True])
def test_result_has_the_declared_return_type(direct_queue: Queue, is_async: bool) -> None:
    def send(current: Job, day: date) -> Receipt:
        return Receipt(day, current.attempt)

    async def send_async(current: Job, day: date) -> Receipt:
        return send(current, day)

    declared: Any = job(kind="send")(send_async if is_async else send)
    enqueued = declared.options(connection=direct_queue.database).enqueue(day=date(2026, 3, 1))

    assert work(direct_queue) == ["done"]
    assert wait(enqueued, NOW, connection=direct_queue.database) == Receipt(date(2026, 3, 1), 1)


def test_async_connection_makes_enqueue_and_wait_awaitable(
    direct_queue: Queue, direct_database: Database
) -> None:
    @job
    def send(day: date) -> Receipt:
        return Receipt(day, 1)

    async def enqueue_and_wait() -> object:
        async with await psycopg.AsyncConnection.connect(direct_database.url, autocommit=True) as connection:
            enqueued = await send.options(connection=connection).enqueue(day=date(2026, 3, 1))
            assert work(direct_queue) == ["done"]
            return await wait(enqueued, NOW, connection=connection)

    assert run_in_loop(enqueue_and_wait()) == Receipt(date(2026, 3, 1), 1)


def test_result_of_a_function_without_one_is_none(direct_queue: Queue) -> None:
    @job
    def report(current: Job) -> None:
        current.result = {"rows": 1}

    enqueued = report.options(connection=direct_queue.database).enqueue()

    assert work(direct_queue) == ["done"]
    assert wait(enqueued, NOW, connection=direct_queue.database) is None  # type: ignore[func-returns-value]
    assert wait(enqueued.id, NOW, connection=direct_queue.database).result == {"rows": 1}


def test_wait_raises_if_the_job_did_not_succeed(direct_queue: Queue) -> None:
    @job
    def charge(amount: int) -> Receipt:
        raise Fail("the card has expired")

    enqueued = charge.options(connection=direct_queue.database).enqueue(1)

    assert work(direct_queue) == ["dead"]
    with pytest.raises(UnsuccessfulError, match="is dead: Fail: the card has expired") as ended:
        wait(enqueued, NOW, connection=direct_queue.database)
    assert ended.value.state == "dead"


def test_wait_refuses_a_result_of_another_type(direct_queue: Queue) -> None:
    @job
    def count() -> int:
        return "many"  # type: ignore[return-value]

    enqueued = count.options(connection=direct_queue.database).enqueue()

    assert work(direct_queue) == ["done"]
    with pytest.raises(MismatchError, match="Expected `int`, got `str`"):
        wait(enqueued, NOW, connection=direct_queue.database)
