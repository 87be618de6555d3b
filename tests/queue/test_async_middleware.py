"""Middleware and contexts may be async, around async handlers and others."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any

import pytest

from minutehand import ConfigurationError, InvalidHandlerError, Job, NewJob, Snooze
from minutehand.attempts.in_turn import run_jobs
from minutehand.events import hooks
from minutehand.handlers import HandlerTable
from minutehand.middleware import Middleware, Next, before_enqueue
from minutehand.model.event import Event
from minutehand.model.outcome import Finish
from tests.queue.stage import Queue

LONG = timedelta(minutes=10)


async def double(payload: int) -> int:
    await asyncio.sleep(0)
    return payload * 2


def attempt(queue: Queue, handler: Callable[..., Any], *around: Middleware, context: Any = None) -> Finish:
    queue.enqueue(payload=21)
    (ending,) = run_jobs(queue.take(), HandlerTable({"echo": handler}, around, context), lambda: False)
    return ending


async def adding(job: Job, call_next: Next) -> Any:
    result = await call_next(job)
    return result + 1


def repeating(job: Job, call_next: Next) -> Any:
    return [call_next(job)] * 2


@pytest.mark.parametrize("handler", [double, lambda payload: payload * 2], ids=["async", "sync"])
def test_async_middleware_runs_inside_other_middleware(
    direct_queue: Queue, handler: Callable[..., Any]
) -> None:
    results: list[Any] = []

    def recording(job: Job, call_next: Next) -> Any:
        results.append(call_next(job))
        return results[-1]

    assert attempt(direct_queue, handler, recording, repeating, adding, adding).ending == "done"
    assert results == [[44, 44]]


def test_middleware_between_async_ones_is_rejected_for_async_handlers() -> None:
    with pytest.raises(InvalidHandlerError, match=r"repeating must be async or come before .*adding"):
        HandlerTable({"echo": double}, [adding, repeating])
    HandlerTable({"echo": lambda payload: payload}, [adding, repeating])


def generator_middleware(job: Job, call_next: Next) -> Any:
    yield call_next(job)


def test_middleware_that_is_a_generator_is_rejected() -> None:
    with pytest.raises(InvalidHandlerError, match=r"generator_middleware must not be a generator"):
        HandlerTable({}, [generator_middleware])
    with pytest.raises(InvalidHandlerError, match=r"context .* decorate it with contextlib\.contextmanager"):
        HandlerTable({}, context=undecorated)


def undecorated(_job: Job) -> Iterator[str]:
    yield "session"


@asynccontextmanager
async def entered(_job: Job) -> AsyncIterator[str]:
    await asyncio.sleep(0)
    STEPS.append("open")
    yield "session"
    await asyncio.sleep(0)
    STEPS.append("close")


async def awaited(_job: Job) -> Any:
    return entered(_job)


async def plain(_job: Job) -> str:
    STEPS.append("made")
    return "session"


@contextmanager
def sync(_job: Job) -> Iterator[str]:
    STEPS.append("open")
    yield "session"
    STEPS.append("close")


STEPS: list[str] = []


@pytest.mark.parametrize("handler_is_async", [True, False])
@pytest.mark.parametrize("context", [entered, awaited, plain, sync])
def test_context_may_be_async(
    direct_queue: Queue, context: Callable[[Job], Any], handler_is_async: bool
) -> None:
    STEPS.clear()

    def handler(_payload: Any, job: Job) -> None:
        STEPS.append(job.context)

    async def async_handler(_payload: Any, job: Job) -> None:
        STEPS.append(job.context)

    ending = attempt(direct_queue, async_handler if handler_is_async else handler, repeating, context=context)

    assert ending.ending == "done"
    assert STEPS == (["made", "session"] if context is plain else ["open", "session", "close"])


def test_async_context_of_an_attempt_without_a_handler_is_not_entered(direct_queue: Queue) -> None:
    def closed(_job: Job, _call_next: Next) -> Any:
        raise Snooze(LONG)

    assert attempt(direct_queue, double, closed, context=plain).ending == "snoozed"


def test_hooks_and_enqueue_middleware_must_not_be_async() -> None:
    async def hook(_event: Event) -> None: ...

    async def check(job: NewJob) -> NewJob:
        return job

    with pytest.raises(ConfigurationError, match=r"hooks must not be async, got .*hook"):
        hooks.on("dead", hook)  # type: ignore[call-overload]
    with pytest.raises(ConfigurationError, match=r"enqueue middleware must not be async, got .*check"):
        before_enqueue(check)  # type: ignore[type-var]
