"""Middleware runs around each handler, with a context for each attempt."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from minutehand import (
    Job,
    Snooze,
    middleware,
)
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import Handlers, HandlerTable
from minutehand.middleware import Next
from minutehand.model.outcome import Finish
from tests.queue.stage import Queue

SECOND = timedelta(seconds=1)


@pytest.fixture
def steps() -> list[str]:
    return []


def recording(steps: list[str], name: str) -> middleware.Middleware:
    def around(job: Job, call_next: Next) -> Any:
        steps.append(f"{name} begins")
        try:
            return call_next(job)
        finally:
            steps.append(f"{name} ends")

    return around


def work(queue: Queue, handlers: Handlers) -> Finish:
    (ending,) = run_jobs(queue.take(), handlers, lambda: False)
    return ending


def table(handler: Callable[..., Any], *around: middleware.Middleware, context: Any = None) -> HandlerTable:
    return HandlerTable({"echo": handler}, around, context)


def test_first_middleware_is_the_outermost(direct_queue: Queue, steps: list[str]) -> None:
    job_id = direct_queue.enqueue()

    work(
        direct_queue,
        table(lambda _: steps.append("handler"), recording(steps, "outer"), recording(steps, "inner")),
    )

    assert steps == ["outer begins", "inner begins", "handler", "inner ends", "outer ends"]
    assert direct_queue.row(job_id).state == "done"


def test_middleware_can_change_the_payload_and_the_result(direct_queue: Queue) -> None:
    def doubled(job: Job, call_next: Next) -> Any:
        job.payload = job.payload * 2
        return [call_next(job)]

    job_id = direct_queue.enqueue(payload=21)
    work(direct_queue, table(lambda payload: payload, doubled))

    assert direct_queue.row(job_id).result == [42]


def test_middleware_can_end_the_attempt_without_the_handler(direct_queue: Queue, steps: list[str]) -> None:
    def closed(job: Job, call_next: Next) -> Any:
        if job.payload == "closed":
            raise Snooze(SECOND)
        return "skipped"

    handlers = table(lambda _: steps.append("handler"), closed)
    snoozed, answered = direct_queue.enqueue(payload="closed"), direct_queue.enqueue(payload="open")
    endings = [work(direct_queue, handlers).ending for _ in range(2)]

    assert endings == ["snoozed", "done"]
    assert (direct_queue.row(snoozed).attempts, direct_queue.row(answered).result) == (0, "skipped")
    assert steps == []


def test_middleware_sees_a_payload_mismatch(direct_queue: Queue, steps: list[str]) -> None:
    @dataclasses.dataclass
    class Letter:
        to: str

    def handle(letter: Letter) -> None:
        raise AssertionError("called")

    def recording_errors(job: Job, call_next: Next) -> Any:
        try:
            return call_next(job)
        except Exception as error:
            steps.append(type(error).__name__)
            raise

    direct_queue.enqueue(payload={"to": 5})
    assert work(direct_queue, table(handle, recording_errors)).ending == "dead"
    assert steps == ["MismatchError"]


def test_each_attempt_has_its_own_context_which_is_closed(direct_queue: Queue, steps: list[str]) -> None:
    # Keep references, so that none is closed by garbage collection.
    held: list[Any] = []

    @contextmanager
    def opened(job: Job) -> Iterator[str]:
        steps.append(f"open {job.attempt}")
        try:
            yield f"session {job.attempt}"
        finally:
            steps.append(f"close {job.attempt}")

    def context(job: Job) -> Any:
        held.append(opened(job))
        return held[-1]

    def handle(_: Any, job: Job) -> None:
        steps.append(job.context)
        if job.attempt == 1:
            raise ValueError

    job_id = direct_queue.enqueue()
    handlers = table(handle, recording(steps, "middleware"), context=context)
    for _ in range(2):
        work(direct_queue, handlers)
        direct_queue.pass_time(job_id)

    around = [["open 1", "session 1", "close 1"], ["open 2", "session 2", "close 2"]]
    assert steps == [
        step
        for opened, session, closed in around
        for step in (opened, "middleware begins", session, "middleware ends", closed)
    ]


def test_context_without_enter_is_passed_unchanged(direct_queue: Queue) -> None:
    made: list[Any] = []
    direct_queue.enqueue()
    work(direct_queue, table(lambda _, job: made.append(job.context), context=lambda job: {"job": job.id}))

    assert [list(each) for each in made] == [["job"]]


def test_empty_container_may_be_the_context_factory(direct_queue: Queue) -> None:
    class Clients(dict[str, str]):
        def __call__(self, job: Job) -> str:
            return f"client of {job.kind}"

    job_id = direct_queue.enqueue()
    work(direct_queue, table(lambda job: job.context, context=Clients()))

    assert direct_queue.row(job_id).result == "client of echo"


def test_failing_context_fails_the_attempt(direct_queue: Queue) -> None:
    def context(_: Job) -> Any:
        raise ConnectionError("the CRM is away")

    job_id = direct_queue.enqueue()
    assert work(direct_queue, table(lambda _: None, context=context)).ending == "retrying"
    assert (direct_queue.row(job_id).error or {})["type"] == "ConnectionError"
