"""Work that was not done fails the attempt: a coroutine that is never awaited, or lazy work that is returned."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from minutehand import AsyncJob, Job, Snooze
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerTable
from tests.queue.meeting import Meeting
from tests.queue.stage import LEASE, LONG, Queue

# Code that forgets an await, as these handlers do, on purpose.
# mypy: disable-error-code="unused-coroutine"


async def send() -> None:
    pass


async def forgets(_payload: Any) -> str:
    send()
    await asyncio.sleep(0)
    return "sent"


async def forgets_in_a_variable(_payload: Any) -> str:
    mail = send()
    return type(mail).__name__


async def forgets_in_a_task(_payload: Any) -> None:
    await asyncio.gather(forgets(None))


async def forgets_a_method_of_the_job(_payload: Any, job: AsyncJob) -> None:
    job.extend(LEASE)


def forgets_in_a_function(_payload: Any) -> None:
    send()


def forgets_in_middleware(job: Job, call_next: Callable[[Job], Any]) -> Any:
    send()
    return call_next(job)


@pytest.mark.parametrize(
    ("handler", "name"),
    [
        (forgets, "send"),
        (forgets_in_a_variable, "send"),
        (forgets_in_a_task, "send"),
        (forgets_a_method_of_the_job, "AsyncJob.extend"),
        (forgets_in_a_function, "send"),
    ],
)
def test_coroutine_that_is_never_awaited_fails_the_attempt(
    direct_queue: Queue, handler: Callable[..., Any], name: str
) -> None:
    # Python reports a line only once, unless it is asked for all.
    for _ in range(2):
        job_id, ending = direct_queue.attempt(handler, max_attempts=1)

        assert ending.ending == "dead"
        assert (direct_queue.row(job_id).error or {})["message"] == (
            f"coroutine {name} was never awaited, so its work was not done; "
            "await it, in a handler that is defined with `async def`"
        )


def test_unawaited_coroutine_in_middleware_fails_the_attempt(direct_queue: Queue) -> None:
    direct_queue.enqueue()
    table = HandlerTable({"echo": lambda _: None}, [forgets_in_middleware])
    (ending,) = run_jobs(direct_queue.take(), table, lambda: False)

    assert (ending.error or {})["type"] == "InvalidHandlerError"


def test_unawaited_coroutine_fails_only_its_own_attempt(direct_queue: Queue) -> None:
    meeting = Meeting(3)

    async def handle(payload: int) -> None:
        await meeting.attend()
        if payload == 1:
            send()
        await asyncio.sleep(0)

    for number in range(3):
        direct_queue.enqueue("handle", number, timeout=LEASE / 6)
    finishes = run_jobs(direct_queue.take(3), HandlerTable({"handle": handle}), lambda: False, concurrency=3)

    assert [finish.ending for finish in finishes] == ["done", "retrying", "done"]


def test_exception_outweighs_an_unawaited_coroutine(direct_queue: Queue) -> None:
    async def handle(_payload: Any) -> None:
        send()
        raise Snooze(LONG)

    assert direct_queue.attempt(handle)[1].ending == "snoozed"


def test_warnings_of_other_code_are_shown_as_before(direct_queue: Queue) -> None:
    async def handle(_payload: Any) -> None:
        warnings.warn("of the handler", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="of the handler"):
        direct_queue.attempt(handle)
    with pytest.warns(RuntimeWarning, match="coroutine 'send' was never awaited"):
        send()


async def double(payload: int) -> int:
    return payload * 2


def lazy_map(payload: Any) -> Any:
    return map(print, payload)


def generator(payload: Any) -> Any:
    return (each for each in payload)


def coroutine(payload: Any) -> Any:
    return double(payload)


def in_job_result(payload: Any, job: Job) -> None:
    job.result = double(payload)


async def list_of_coroutines(payload: Any) -> Any:
    return [double(each) for each in payload]


async def coroutine_of_a_coroutine(payload: Any) -> Any:
    return double(payload)


@pytest.mark.parametrize(
    ("handler", "advice"),
    [
        (lazy_map, "returned a map, so its work was not done; run it, and return a value"),
        (generator, "returned a generator, so its work was not done"),
        (coroutine, "returned a coroutine that is not awaited"),
        (coroutine_of_a_coroutine, "define it with `async def` and await the call"),
        (in_job_result, "returned a coroutine that is not awaited"),
        (list_of_coroutines, "returned a list of coroutines that are not awaited"),
    ],
)
def test_work_that_was_returned_and_not_done_fails_the_attempt(
    direct_queue: Queue, handler: Callable[..., Any], advice: str
) -> None:
    job_id, ending = direct_queue.attempt(handler, payload=[1])

    assert (ending.ending, (ending.error or {})["type"]) == ("retrying", "InvalidHandlerError")
    assert advice in (direct_queue.row(job_id).error or {})["message"]
