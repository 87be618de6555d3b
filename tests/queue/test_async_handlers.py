"""Async handlers run to their end, with the time limit, transaction and context of other handlers."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from datetime import timedelta
from functools import partial, wraps
from time import monotonic
from typing import Any

import pytest

from minutehand import AsyncJob, Snooze
from minutehand.model.outcome import Finish, Interrupted
from tests.event_loop import run_in_loop
from tests.queue.stage import LEASE, LONG, Queue
from tests.queue.test_time_limits import RingsWhenFreed
from tests.retries import IN_AN_HOUR

# Enough that the handler has begun, on a busy machine too.
SHORT = timedelta(seconds=1)
NEVER = 1000.0

Wait = Callable[[], Awaitable[None]]
Log = pytest.LogCaptureFixture


async def double(payload: int) -> int:
    await asyncio.sleep(0)
    return payload * 2


class Doubling:
    async def __call__(self, payload: int) -> int:
        return await double(payload)


def timed(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


@pytest.mark.parametrize(
    "handler",
    [double, Doubling(), partial(double), timed(double)],
    ids=["function", "object", "partial", "decorated"],
)
def test_async_handler_runs_to_its_end(direct_queue: Queue, handler: Callable[..., Any]) -> None:
    job_id, ending = direct_queue.attempt(handler, payload=21)

    assert (ending.ending, direct_queue.row(job_id).result) == ("done", 42)


@pytest.mark.parametrize(
    "error", [Snooze(LONG), ValueError("no"), asyncio.CancelledError(), SystemExit(1)], ids=repr
)
def test_exception_of_an_async_handler_is_the_outcome(direct_queue: Queue, error: BaseException) -> None:
    async def fail(_payload: Any) -> None:
        await asyncio.sleep(0)
        raise error

    job_id, ending = direct_queue.attempt(fail)

    assert ending.ending == ("snoozed" if isinstance(error, Snooze) else "retrying")
    assert (direct_queue.row(job_id).error or {}).get("type") == (
        None if isinstance(error, Snooze) else type(error).__name__
    )


def test_async_handler_uses_its_job(direct_queue: Queue) -> None:
    async def book(payload: Any, job: AsyncJob) -> None:
        await job.extend(LEASE)
        await job.check()
        async with job.transaction() as connection:
            await connection.execute("create table booked (n int)")
            job.result = payload
            await asyncio.sleep(0)

    job_id, ending = direct_queue.attempt(book, payload=7)

    assert (ending.ending, direct_queue.row(job_id).result) == ("done", 7)
    assert direct_queue.sql("select to_regclass('booked') is not null as made") == [{"made": True}]


async def awaiting() -> None:
    await asyncio.sleep(NEVER)


async def blocking() -> None:
    while True:
        pass


async def waiting_for_tasks() -> None:
    await asyncio.gather(awaiting(), blocking())


@pytest.mark.parametrize("wait", [awaiting, blocking, waiting_for_tasks])
def test_async_handler_out_of_time_cleans_up(direct_queue: Queue, wait: Wait) -> None:
    steps: list[str] = []

    async def handler(_payload: Any) -> None:
        try:
            await wait()
        finally:
            await asyncio.sleep(0)
            steps.append("cleaned up")

    job_id, ending = direct_queue.attempt(handler, timeout=SHORT, retry=IN_AN_HOUR)

    assert (ending.ending, (direct_queue.row(job_id).error or {})["type"]) == ("retrying", "OutOfTime")
    assert steps == ["cleaned up"]
    assert direct_queue.attempt(double, payload=1)[1].ending == "done"


def test_discarded_alarm_of_an_async_handler_rings_again(direct_queue: Queue) -> None:
    async def handler(_payload: Any, job: AsyncJob) -> None:
        job.lease.deadline = monotonic() - 1
        RingsWhenFreed()
        await blocking()

    job_id, ending = direct_queue.attempt(handler, timeout=LONG, retry=IN_AN_HOUR)

    assert (ending.ending, (direct_queue.row(job_id).error or {})["type"]) == ("retrying", "OutOfTime")


def test_transaction_of_an_interrupted_async_handler_is_rolled_back(direct_queue: Queue) -> None:
    async def handler(_payload: Any, job: AsyncJob) -> None:
        async with job.transaction() as connection:
            await connection.execute("create table booked (n int)")
            await awaiting()

    direct_queue.attempt(handler, timeout=SHORT)
    assert direct_queue.sql("select to_regclass('booked') as booked") == [{"booked": None}]


def test_interrupted_async_job_is_released(direct_queue: Queue) -> None:
    async def handler(_payload: Any) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        direct_queue.attempt(handler)

    (job,) = direct_queue.take()
    assert job.attempt == 1


def test_async_handlers_of_a_worker_share_a_loop(direct_queue: Queue) -> None:
    loops: list[Any] = []

    async def handler(_payload: Any) -> None:
        loops.append(asyncio.get_running_loop())

    direct_queue.attempt(handler)
    direct_queue.attempt(handler)

    assert loops[0] is loops[1]


def test_tasks_left_by_a_handler_are_cancelled(direct_queue: Queue, caplog: Log) -> None:
    left: list[asyncio.Task[None]] = []

    async def handler(_payload: Any) -> str:
        left.append(asyncio.create_task(awaiting()))
        await asyncio.sleep(0)
        return "returned"

    with caplog.at_level(logging.WARNING):
        job_id, _ = direct_queue.attempt(handler)

    assert direct_queue.row(job_id).result == "returned"
    assert left[0].cancelled()
    assert "a handler left 1 tasks running" in caplog.text


def test_async_handler_runs_in_a_thread_of_a_worker(direct_queue: Queue) -> None:
    job_id, ending = direct_queue.start(direct_queue.attempt, double, payload=21).result()

    assert (ending.ending, direct_queue.row(job_id).result) == ("done", 42)


def test_async_handler_runs_within_a_running_loop(direct_queue: Queue) -> None:
    async def test() -> Finish:
        return direct_queue.attempt(double, payload=21)[1]

    assert run_in_loop(test()).ending == "done"


def test_async_handler_within_a_running_loop_is_interrupted(direct_queue: Queue) -> None:
    steps: list[object] = []

    async def handler(_payload: Any) -> None:
        try:
            await awaiting()
        finally:
            steps.append(threading.current_thread() is threading.main_thread())

    async def test() -> Finish:
        return direct_queue.attempt(handler, timeout=SHORT)[1]

    assert (run_in_loop(test()).error or {})["type"] == "OutOfTime"
    assert steps == [False]


CITY: ContextVar[str] = ContextVar("CITY", default="none")


def test_context_variables_belong_to_an_attempt(direct_queue: Queue) -> None:
    seen: list[str] = []

    async def handler(payload: str) -> None:
        seen.append(CITY.get())
        CITY.set(payload)

    def other(payload: str) -> None:
        seen.append(CITY.get())
        CITY.set(payload)

    for function in (handler, other, handler):
        direct_queue.attempt(function, payload="Paris")

    assert seen == ["none"] * 3
