"""Partial results of failed attempts."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from minutehand import Cancel, Fail, Job, RetryAfter
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from tests.queue.attempts.stage import only_attempt, raising
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def with_result(error: BaseException | None = None) -> Callable[[Any, Job], None]:
    def handler(_payload: Any, job: Job) -> None:
        job.result = {"sent": 3}
        if error is not None:
            raise error

    return handler


@pytest.mark.parametrize(
    ("handler", "ending"),
    [
        (raising(Fail("no", result={"sent": 3})), "dead"),
        (raising(RetryAfter(LONG, result={"sent": 3})), "retrying"),
        (with_result(ValueError("no")), "retrying"),
        (with_result(Fail("no")), "dead"),
        (with_result(Cancel("enough")), "cancelled"),
    ],
    ids=["Fail(result)", "RetryAfter(result)", "before an error", "before Fail", "before Cancel"],
)
def test_failure_stores_its_partial_result(queue: Queue, handler: Callable[..., Any], ending: str) -> None:
    job_id, attempted = queue.attempt(handler)

    attempt = only_attempt(queue, job_id)
    assert attempted.ending == ending
    assert queue.row(job_id).result == attempt.result == {"sent": 3}


def test_partial_result_survives_failure_but_not_success(queue: Queue) -> None:
    dead, done = queue.enqueue(max_attempts=2), queue.enqueue()
    for job in queue.take(2):
        finish(job, Failed(ERROR, delay=timedelta(), result='{"sent": 3}'))
        queue.pass_time(job.id)
    for job in queue.take(2):
        finish(job, Failed(ERROR) if job.id == dead else Done())

    assert (queue.row(dead).state, queue.row(dead).result) == ("dead", {"sent": 3})
    assert (queue.row(done).state, queue.row(done).result) == ("done", None)


def test_result_that_is_not_json_does_not_hide_the_error(queue: Queue) -> None:
    job_id, ending = queue.attempt(raising(Fail("the reason", result=object())))

    row = queue.row(job_id)
    assert (ending.ending, row.result) == ("dead", None)
    assert row.error is not None
    assert row.error["type"] == "Fail"
    assert row.error["message"].startswith("the reason (the result was not stored")


def test_handler_that_returns_none_keeps_the_result_it_set(queue: Queue) -> None:
    job_id, _ = queue.attempt(with_result())

    assert queue.row(job_id).result == {"sent": 3}


def test_failed_transaction_restores_the_earlier_result(queue: Queue) -> None:
    def handler(_payload: Any, job: Job) -> None:
        job.result = {"sent": 3}
        with job.transaction():
            job.result = {"sent": 4}
            raise ValueError("no")

    job_id, _ = queue.attempt(handler)

    assert queue.row(job_id).result == {"sent": 3}
