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
    assert row.error["message"].startswith(
        "the reason (the result was not stored: result must be JSON: object"
    )


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


BIG = "x" * 300_000
TOO_BIG = "the result was not stored: it must have at most 262144 bytes, got 300002"


def test_result_over_the_limit_is_dropped_and_the_job_is_done(queue: Queue) -> None:
    job_id, ending = queue.attempt(lambda _: BIG)

    row = queue.row(job_id)
    assert (ending.ending, row.state, row.result) == ("done", "done", None)
    assert row.error == {"type": "ResultError", "message": TOO_BIG, "stage": "result"}


def test_partial_result_over_the_limit_is_dropped(queue: Queue) -> None:
    job_id, ending = queue.attempt(raising(Fail("no", result=BIG)))

    attempt, row = only_attempt(queue, job_id), queue.row(job_id)
    assert (ending.ending, row.result, attempt.result) == ("dead", None, None)
    assert row.error and attempt.error
    assert row.error["message"] == attempt.error["message"] == f"no ({TOO_BIG})"


def test_result_over_the_limit_does_not_roll_back_a_transaction(queue: Queue) -> None:
    def handler(_payload: Any, job: Job) -> None:
        with job.transaction() as connection:
            connection.execute("create table effects (n integer)")
            job.result = BIG

    job_id, ending = queue.attempt(handler)
    row = queue.row(job_id)
    assert (ending.ending, row.state, row.result) == ("done", "done", None)
    assert row.error and row.error["message"] == TOO_BIG
    assert queue.sql("select * from effects") == []


def test_limit_of_results_is_a_setting(queue: Queue) -> None:
    queue.sql("update minutehand.settings set max_result = 300002")
    fits, _ = queue.attempt(lambda _: BIG)
    too_big, _ = queue.attempt(lambda _: BIG + "x")

    assert (queue.row(fits).result, queue.row(too_big).result) == (BIG, None)


def test_texts_of_an_error_are_bounded(queue: Queue) -> None:
    job_id, _ = queue.attempt(raising(type("E" * 5000, (Exception,), {})("m" * 5_000_000)))

    error = queue.row(job_id).error
    assert error
    assert {name: len(text) for name, text in error.items()} == {"type": 200, "message": 1000, "trace": 4000}


def test_error_of_an_outcome_is_bounded(queue: Queue) -> None:
    job = queue.claimed()
    finish(job, Failed({"type": "E" * 5000, "message": "m" * 5000, "trace": "t" * 5000}))

    for error in (queue.row(job.id).error, only_attempt(queue, job.id).error):
        assert error
        lengths = {name: len(text) for name, text in error.items()}
        assert lengths == {"type": 200, "message": 2000, "trace": 4000}


def reading(seen: list[Any], error: BaseException | None = None, result: Any = None) -> Callable[..., None]:
    def handler(_payload: Any, job: Job) -> None:
        seen.append(job.previous_result)
        job.result = result
        if error is not None:
            raise error

    return handler


@pytest.mark.fault("take", r" j\.result as stored_result,", " null as stored_result,")
def test_next_attempts_read_the_last_stored_result(queue: Queue) -> None:
    seen: list[Any] = []
    job_id = queue.enqueue()
    retry = RetryAfter(timedelta())
    for result in ({"sent": 3}, None, {"sent": 5}, None):
        queue.work(reading(seen, retry, result))
        queue.pass_time(job_id)

    assert seen == [None, {"sent": 3}, {"sent": 3}, {"sent": 5}]


@pytest.mark.fault("claim", r" j\.result as stored_result,", " null as stored_result,")
def test_claim_of_an_offer_reads_the_previous_result(queue: Queue) -> None:
    finish(queue.claimed(), Failed(ERROR, delay=timedelta(), result='{"sent": 3}'))

    assert [job.previous_result for job in queue.claim(*queue.offer())] == [{"sent": 3}]


@pytest.mark.parametrize("on_conflict", ["replace", "merge"])
def test_result_is_not_that_of_a_replaced_job(queue: Queue, on_conflict: str) -> None:
    finish(queue.claimed(key="a"), Failed(ERROR, delay=LONG, result='{"sent": 3}'))
    job_id = queue.enqueue(key="a", payload={"n": 2}, on_conflict=on_conflict)
    queue.pass_time(job_id)

    assert [job.previous_result for job in queue.take()] == [None]
