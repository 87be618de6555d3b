"""An attempt ends by what its handler returns or raises, and the row has the outcome."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from minutehand import Cancel, Fail, Retry, RetryAfter, Snooze
from minutehand.model.outcome import Interrupted
from tests.queue.stage import LONG, Queue

MINUTE = timedelta(minutes=1)
NEAR = timedelta(seconds=5)
IN_A_MINUTE = Retry(strategy="fixed", min=MINUTE, jitter=False)


def raising(error: BaseException) -> Callable[[Any], None]:
    def handler(_payload: Any) -> None:
        raise error

    return handler


@pytest.mark.parametrize("result", [None, 0, False, "", [], {"a": 1}])
def test_returned_value_is_stored_as_the_result(queue: Queue, result: object) -> None:
    job_id, ending = queue.attempt(lambda _: result)

    row = queue.row(job_id)
    assert (ending.ending, row.state, row.result, row.error) == ("done", "done", result, None)


class Unreadable:
    """A value whose attributes cannot be read."""

    def __getattr__(self, name: str) -> object:
        raise KeyError(name)


@pytest.mark.parametrize(
    "result",
    [object(), float("nan"), {1: 2}, "\ud800", Unreadable()],
    ids=["object", "nan", "key", "surrogate", "unreadable"],
)
def test_job_is_done_even_if_its_result_is_not_json(queue: Queue, result: object) -> None:
    job_id, ending = queue.attempt(lambda _: result)

    row = queue.row(job_id)
    assert (ending.ending, row.state, row.result) == ("done", "done", None)
    assert (row.error or {})["type"] == "ResultError"


def test_exception_is_stored_and_the_job_is_retried(queue: Queue) -> None:
    job_id, ending = queue.attempt(raising(ValueError("no such customer")), retry=IN_A_MINUTE)

    row = queue.row(job_id)
    assert (ending.ending, row.state, row.attempts) == ("retrying", "retrying", 1)
    assert row.error is not None
    assert (row.error["type"], row.error["message"]) == ("ValueError", "no such customer")
    assert row.error["trace"].splitlines()[-1] == "ValueError: no such customer"
    assert Path(__file__).name in row.error["trace"]
    # Only the frames of the handler. The checkout may have the same name as the library.
    assert "/minutehand/" not in row.error["trace"].replace(str(Path(__file__).parent), "")
    assert queue.waits(job_id, MINUTE)


@pytest.mark.parametrize(
    "error", [SystemExit(1), RecursionError(), MemoryError(), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x")]
)
def test_every_exception_is_a_failure(queue: Queue, error: BaseException) -> None:
    job_id, ending = queue.attempt(raising(error))

    assert ending.ending == "retrying"
    assert (queue.row(job_id).error or {})["type"] == type(error).__name__


def test_error_that_no_column_accepts_is_stored_in_part(queue: Queue) -> None:
    job_id, _ = queue.attempt(raising(ValueError("a\0b\ud800" + "x" * 100_000)))

    message = (queue.row(job_id).error or {})["message"]
    assert message.startswith("a\ufffdb?")
    assert len(message) == 1000


def test_keyboard_interrupt_releases_the_job_and_propagates(queue: Queue) -> None:
    with pytest.raises(Interrupted):
        queue.attempt(raising(Interrupted()))

    (job,) = queue.take()
    assert job.attempt == 1


def test_job_is_dead_after_its_last_attempt(queue: Queue) -> None:
    job_id = queue.enqueue(max_attempts=3)
    endings = []
    for _ in range(4):
        endings += [ending.ending for ending in queue.work(raising(ValueError("no")))]
        queue.pass_time(job_id)

    row = queue.row(job_id)
    assert endings == ["retrying", "retrying", "dead"]
    assert (row.state, row.attempts, (row.error or {})["message"]) == ("dead", 3, "no")


def test_one_attempt_without_retries_is_valid(queue: Queue) -> None:
    job_id, ending = queue.attempt(raising(ValueError("no")), max_attempts=1)

    assert (ending.ending, queue.row(job_id).state) == ("dead", "dead")


def test_job_done_after_failures_keeps_the_latest_error(queue: Queue) -> None:
    job_id, _ = queue.attempt(raising(ValueError("no")))
    queue.pass_time(job_id)
    queue.work(lambda _: "result")

    row = queue.row(job_id)
    assert (row.state, row.result, (row.error or {})["message"]) == ("done", "result", "no")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (LONG, LONG),
        (datetime(2100, 1, 1, tzinfo=UTC), None),
        (timedelta(days=400), timedelta(days=400)),
        (-LONG, timedelta()),
        (datetime(2001, 9, 9, tzinfo=UTC), timedelta()),
    ],
    ids=["delay", "time", "beyond the strategy", "negative", "past"],
)
def test_retry_after_sets_the_time_of_the_next_attempt(
    queue: Queue, after: timedelta | datetime, expected: timedelta | None
) -> None:
    job_id, ending = queue.attempt(raising(RetryAfter(after)), retry=IN_A_MINUTE)

    row = queue.row(job_id)
    assert (ending.ending, row.attempts) == ("retrying", 1)
    if expected is None:
        assert isinstance(after, datetime)
        assert abs(row.visible - after) < NEAR
    else:
        assert queue.waits(job_id, expected)


def test_retry_after_uses_an_attempt(queue: Queue) -> None:
    _, ending = queue.attempt(raising(RetryAfter(LONG, "busy")), max_attempts=1)

    assert (ending.ending, (ending.error or {})["message"]) == ("dead", "busy")


def test_snooze_delays_the_job_without_using_an_attempt(queue: Queue) -> None:
    job_id, ending = queue.attempt(raising(Snooze(LONG)), max_attempts=1)

    row = queue.row(job_id)
    assert (ending.ending, row.state, row.attempts, row.error) == ("snoozed", "scheduled", 0, None)
    assert queue.waits(job_id, LONG)


def test_cancel_ends_the_job_as_cancelled(queue: Queue) -> None:
    job_id, ending = queue.attempt(raising(Cancel("the customer left")))

    row = queue.row(job_id)
    assert (ending.ending, row.state) == ("cancelled", "cancelled")
    assert row.error == {"type": "Cancelled", "message": "the customer left"}


def test_fail_is_dead_immediately(queue: Queue) -> None:
    job_id, ending = queue.attempt(raising(Fail("the address is invalid")), max_attempts=8)

    assert (ending.ending, queue.row(job_id).attempts) == ("dead", 1)
    assert (queue.row(job_id).error or {})["message"] == "the address is invalid"
